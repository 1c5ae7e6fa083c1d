// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	tfaddr "github.com/hashicorp/terraform-registry-address"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// ProviderLeaf is a part of a provider configuration that reaches the engine through an
// ephemeral variable (rule W3).
type ProviderLeaf struct {
	Variable string
	Slot     engine.ProviderSlot
	Path     cty.Path // in the configuration

	// Unknown is set if the part was unknown while planning.
	Unknown bool
}

// UnknownBlocksError says that it is not known yet which nested blocks a provider configuration
// has.
type UnknownBlocksError struct {
	Slot engine.ProviderSlot
	Path cty.Path
}

func (e *UnknownBlocksError) Error() string {
	return fmt.Sprintf("the nested blocks of provider configuration %s are unknown", e.Slot)
}

// providerBlocks is the part of the generated file that is about providers.
type providerBlocks struct {
	required map[string]any   // entries of required_providers, by local name
	blocks   map[string][]any // provider blocks, by local name
}

// shapeProviders generates the provider blocks.
func (g *generated) shapeProviders(spec *Spec) (*providerBlocks, error) {
	out := &providerBlocks{required: map[string]any{}, blocks: map[string][]any{}}
	for _, slot := range slices.SortedFunc(maps.Keys(spec.Providers), compareSlots) {
		config := spec.Providers[slot]
		if config.Provider.IsBuiltin() || !needed(spec, slot, config.Provider) {
			continue
		}
		body, err := g.providerBody(slot, config, spec.BlockTypes)
		if err != nil {
			return nil, err
		}
		if slot.Alias != "" {
			body["alias"] = slot.Alias
		}
		name := out.localName(spec.Tree.Root.Directory, slot.LocalName, config.Provider)
		out.blocks[name] = append(out.blocks[name], body)
	}
	return out, nil
}

func compareSlots(a, b engine.ProviderSlot) int {
	return cmp.Or(cmp.Compare(a.LocalName, b.LocalName), cmp.Compare(a.Alias, b.Alias))
}

// needed reports whether the module or its state has a use for a provider configuration.
func needed(spec *Spec, slot engine.ProviderSlot, provider stackaddrs.Provider) bool {
	if spec.Tree.Module.Slots[slot] != nil {
		return true
	}
	return bytes.Contains(spec.State, []byte(provider.String()))
}

// localName returns a name for the provider in the root module, declaring one if it has none.
func (b *providerBlocks) localName(root *module.Directory, wanted string, provider stackaddrs.Provider) string {
	if known, _ := root.Provider(wanted); known == provider {
		return wanted
	}
	for _, name := range slices.Sorted(maps.Keys(root.Required)) {
		if root.Required[name].Provider == provider {
			return name
		}
	}
	for root.Required[wanted] != nil {
		wanted += "_stack"
	}
	source := provider.Namespace + "/" + provider.Type
	if provider.Hostname != string(tfaddr.DefaultProviderRegistryHost) {
		source = provider.String()
	}
	b.required[wanted] = map[string]any{"source": source}
	return wanted
}

// BlockTypes reports which top-level attributes of a provider's configuration object are nested
// blocks.
type BlockTypes func(stackaddrs.Provider) map[string]bool

func (g *generated) providerBody(slot engine.ProviderSlot, config engine.ProviderConfig, blockTypes BlockTypes) (map[string]any, error) {
	value, _ := config.Config.Unmark()
	p := providerWriter{generated: g, slot: slot}
	if value == cty.NilVal || value.IsNull() {
		return map[string]any{}, nil
	}
	if !value.IsKnown() && !value.Type().IsObjectType() {
		return nil, &UnknownBlocksError{Slot: slot}
	}
	blocks := map[string]bool{}
	if blockTypes != nil {
		blocks = blockTypes(config.Provider)
	}
	body := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(value.Type().AttributeTypes())) {
		part, path := value.GetAttr(name), cty.GetAttrPath(name)
		content, err := p.argument(part, path, blocks[name])
		if err != nil {
			return nil, err
		}
		if content != nil {
			body[name] = content
		}
	}
	return body, nil
}

type providerWriter struct {
	*generated
	slot engine.ProviderSlot
}

// argument returns the JSON for an attribute or for nested blocks; nil if it is absent.
func (p providerWriter) argument(value cty.Value, path cty.Path, isBlock bool) (any, error) {
	bare, _ := value.Unmark()
	ty := bare.Type()
	if !isBlock {
		return p.leaf(bare, path), nil
	}
	switch {
	case !bare.IsKnown():
		return nil, &UnknownBlocksError{Slot: p.slot, Path: path}
	case bare.IsNull():
		return nil, nil
	case ty.IsObjectType() && isKeyed(path):
		return p.block(bare, path)
	case ty.IsMapType():
		blocks := map[string]any{}
		for key, part := range bare.AsValueMap() {
			content, err := p.argument(part, path.Copy().IndexString(key), true)
			if err != nil {
				return nil, err
			}
			blocks[key] = content
		}
		return blocks, nil
	case ty.IsObjectType():
		return p.block(bare, path)
	default:
		blocks := []any{}
		index := int64(0)
		for it := bare.ElementIterator(); it.Next(); index++ {
			_, part := it.Element()
			// Elements of sets are counted, too: the order of a set's elements is fixed.
			content, err := p.argument(part, path.Copy().Index(cty.NumberIntVal(index)), true)
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, content)
		}
		return blocks, nil
	}
}

func isKeyed(path cty.Path) bool {
	_, keyed := path[len(path)-1].(cty.IndexStep)
	return keyed
}

// block writes the content of one nested block. In it, lists, sets and maps of objects are taken
// for nested blocks, as only they may hold further ones.
func (p providerWriter) block(value cty.Value, path cty.Path) (any, error) {
	body := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(value.Type().AttributeTypes())) {
		part, _ := value.GetAttr(name).Unmark()
		ty := part.Type()
		isBlock := ty.IsObjectType() || ty.IsCollectionType() && ty.ElementType().IsObjectType()
		content, err := p.argument(part, path.Copy().GetAttr(name), isBlock)
		if err != nil {
			return nil, err
		}
		if content != nil {
			body[name] = content
		}
	}
	return body, nil
}

// leaf returns a reference to a generated variable for an attribute.
func (p providerWriter) leaf(value cty.Value, path cty.Path) any {
	if value.IsKnown() && value.IsNull() {
		return nil
	}
	name := fmt.Sprintf("%sp%d", prefix, len(p.shape.Providers))
	bare, _ := value.UnmarkDeep()
	unknown := !bare.IsWhollyKnown()
	p.shape.Providers = append(p.shape.Providers, ProviderLeaf{Variable: name, Slot: p.slot, Path: path, Unknown: unknown})
	return "${" + p.ephemeral(name, bare, true) + "}"
}

var errStructure = errors.New("its arguments are not the planned ones")

// at returns the part of a configuration that a leaf's path leads to.
func at(config cty.Value, path cty.Path) (cty.Value, error) {
	if config == cty.NilVal {
		return cty.NilVal, errors.New("it is missing")
	}
	for _, step := range path {
		config, _ = config.Unmark()
		if config.IsNull() || !config.IsKnown() {
			return cty.NilVal, errStructure
		}
		index, isIndex := step.(cty.IndexStep)
		if isIndex && config.Type().IsSetType() {
			elements := config.AsValueSlice()
			number, _ := index.Key.AsBigFloat().Int64()
			if int(number) >= len(elements) {
				return cty.NilVal, errStructure
			}
			config = elements[number]
			continue
		}
		next, err := step.Apply(config)
		if err != nil {
			return cty.NilVal, errStructure
		}
		config = next
	}
	config, _ = config.UnmarkDeep()
	return config, nil
}
