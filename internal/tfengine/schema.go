// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfengine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/tfengine/planfile"
	"github.com/cairnstacks/cairn/internal/tfengine/workcopy"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// providerSchemas has the schemas of all installed providers.
type providerSchemas struct {
	configs map[stackaddrs.Provider]*tfjson.SchemaBlock

	// dir has a file for the schema of each resource type and data source.
	dir string

	mu struct {
		sync.Mutex
		types map[string]*tfjson.Schema // by file
	}
}

// ProviderConfigSpec implements [engine.Engine].
func (e *Engine) ProviderConfigSpec(ctx context.Context, provider stackaddrs.Provider) (hcldec.Spec, hcl.Diagnostics) {
	if provider.IsBuiltin() {
		return hcldec.ObjectSpec{}, nil
	}
	schemas, err := e.schemas(ctx)
	if err != nil {
		return nil, hcl.Diagnostics{failed("Provider schemas cannot be read", err)}
	}
	block, ok := schemas.configs[provider]
	if !ok {
		return nil, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Provider not installed",
			Detail:   fmt.Sprintf("Provider %s is not installed. Run cairn init.", provider),
		}}
	}
	return blockSpec(block), nil
}

// schemas returns the schemas of all installed providers. The binary is asked once for a lock file's content.
func (e *Engine) schemas(ctx context.Context) (*providerSchemas, error) {
	e.mu.Lock()
	once := e.mu.schemas
	e.mu.Unlock()
	schemas, err := once.get(func() (*providerSchemas, error) { return e.loadSchemas(ctx) })
	if err != nil { // may work the next time
		e.mu.Lock()
		if e.mu.schemas == once {
			e.mu.schemas = &onceValue[*providerSchemas]{}
		}
		e.mu.Unlock()
	}
	return schemas, err
}

func (e *Engine) loadSchemas(ctx context.Context) (*providerSchemas, error) {
	lock, err := e.readLock()
	if err != nil {
		return nil, err
	}
	if len(lock) == 0 {
		return &providerSchemas{}, nil
	}
	dir := e.absolute("schemas", hashOf(append(lock, e.info.Name+e.info.Version...))[:24])
	configs := map[string]*tfjson.SchemaBlock{}
	if data, err := os.ReadFile(filepath.Join(dir, configsFile)); err != nil || json.Unmarshal(data, &configs) != nil {
		if configs, err = e.askSchemas(ctx, dir); err != nil {
			return nil, err
		}
	}
	schemas := &providerSchemas{configs: make(map[stackaddrs.Provider]*tfjson.SchemaBlock, len(configs)), dir: dir}
	schemas.mu.types = map[string]*tfjson.Schema{}
	for source, block := range configs {
		provider, err := e.parseProvider(source)
		if err != nil {
			return nil, err
		}
		schemas.configs[provider] = block
	}
	return schemas, nil
}

// configsFile has the schemas of provider configurations. It is written last.
const configsFile = "configs.json"

// askSchemas runs the binary in the installation directory, which needs all providers, and stores
// each schema in a file of its own: those of all resource types of a large provider take seconds to decode.
func (e *Engine) askSchemas(ctx context.Context, dir string) (map[string]*tfjson.SchemaBlock, error) {
	stdout, stderr, err := e.command(ctx, e.stackDir, e.installEnv(), "-chdir="+e.absolute("init"), "providers", "schema", "-json")
	if err != nil {
		return nil, fmt.Errorf("asking %s for provider schemas: %w: %s", e.info.Name, err, unframe(string(stderr)))
	}
	var out struct {
		Schemas map[string]struct {
			Provider  *tfjson.Schema             `json:"provider"`
			Resources map[string]json.RawMessage `json:"resource_schemas"`
			Data      map[string]json.RawMessage `json:"data_source_schemas"`
		} `json:"provider_schemas"`
	}
	if err := json.Unmarshal(stdout, &out); err != nil {
		return nil, fmt.Errorf("reading provider schemas: %w", err)
	}
	configs := make(map[string]*tfjson.SchemaBlock, len(out.Schemas))
	for source, schema := range out.Schemas {
		if strings.HasPrefix(source, "terraform.io/builtin/") {
			continue
		}
		configs[source] = &tfjson.SchemaBlock{}
		if schema.Provider != nil && schema.Provider.Block != nil {
			configs[source] = schema.Provider.Block
		}
		types := map[tfjson.ResourceMode]map[string]json.RawMessage{
			tfjson.ManagedResourceMode: schema.Resources, tfjson.DataResourceMode: schema.Data,
		}
		if err := storeTypes(dir, source, types); err != nil {
			return nil, fmt.Errorf("storing provider schemas: %w", err)
		}
	}
	data, err := json.Marshal(configs)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = writeFile(filepath.Join(dir, configsFile), data)
	}
	if err != nil {
		return nil, fmt.Errorf("storing provider schemas: %w", err)
	}
	return configs, nil
}

func storeTypes(dir, source string, types map[tfjson.ResourceMode]map[string]json.RawMessage) error {
	for mode, schemas := range types {
		for name, schema := range schemas {
			file := typeFile(dir, source, mode, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(file, schema, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

func typeFile(dir, source string, mode tfjson.ResourceMode, name string) string {
	return filepath.Join(dir, filepath.FromSlash(source), string(mode), name+".json")
}

// ofType returns the schema of a resource type or data source, nil if there is none.
func (s *providerSchemas) ofType(source string, mode tfjson.ResourceMode, name string) (*tfjson.Schema, error) {
	file := typeFile(s.dir, source, mode, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if schema, known := s.mu.types[file]; known {
		return schema, nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading a provider schema: %w", err)
	}
	schema := &tfjson.Schema{}
	if err := json.Unmarshal(data, schema); err != nil {
		return nil, fmt.Errorf("reading a provider schema: %w", err)
	}
	s.mu.types[file] = schema
	return schema, nil
}

// readPlan decodes a plan file. What only schemas call sensitive is then known to be so.
func (e *Engine) readPlan(ctx context.Context, data []byte) (*planfile.Plan, error) {
	var schemaErr error
	plan, err := planfile.Read(data, planfile.Options{
		Schema: func(source string, mode tfjson.ResourceMode, name string) *tfjson.Schema {
			if strings.HasPrefix(source, "terraform.io/builtin/") {
				return nil // its values carry their types, and it has nothing sensitive of its own
			}
			schemas, err := e.schemas(ctx)
			if err != nil {
				schemaErr = err
				return nil
			}
			schema, err := schemas.ofType(source, mode, name)
			schemaErr = errors.Join(schemaErr, err)
			return schema
		},
	})
	return plan, errors.Join(err, schemaErr)
}

// blockTypes returns what package workcopy has to know of the providers' schemas.
func (e *Engine) blockTypes(ctx context.Context, providers map[engine.ProviderSlot]engine.ProviderConfig) (workcopy.BlockTypes, hcl.Diagnostics) {
	if !mayHaveBlocks(providers) {
		return nil, nil
	}
	schemas, err := e.schemas(ctx)
	if err != nil {
		return nil, hcl.Diagnostics{failed("Provider schemas cannot be read", err)}
	}
	return func(provider stackaddrs.Provider) map[string]bool {
		blocks := map[string]bool{}
		if block := schemas.configs[provider]; block != nil {
			for name := range block.NestedBlocks {
				blocks[name] = true
			}
		}
		return blocks
	}, nil
}

func mayHaveBlocks(providers map[engine.ProviderSlot]engine.ProviderConfig) bool {
	for _, config := range providers {
		if config.Config == cty.NilVal || !config.Config.Type().IsObjectType() {
			continue
		}
		for _, ty := range config.Config.Type().AttributeTypes() {
			if !ty.IsPrimitiveType() {
				return true
			}
		}
	}
	return false
}

// blockSpec returns how a block is decoded. Shape of the result: an object with an attribute for each
// argument and each type of nested block.
func blockSpec(block *tfjson.SchemaBlock) hcldec.ObjectSpec {
	spec := hcldec.ObjectSpec{}
	for name, attr := range block.Attributes {
		spec[name] = &hcldec.AttrSpec{Name: name, Type: attributeType(attr), Required: attr.Required}
	}
	for name, nested := range block.NestedBlocks {
		spec[name] = nestedSpec(name, nested)
	}
	return spec
}

func attributeType(attr *tfjson.SchemaAttribute) cty.Type {
	nested := attr.AttributeNestedType
	if nested == nil {
		return attr.AttributeType
	}
	types := make(map[string]cty.Type, len(nested.Attributes))
	var optional []string
	for name, attr := range nested.Attributes {
		types[name] = attributeType(attr)
		if !attr.Required {
			optional = append(optional, name)
		}
	}
	object := cty.ObjectWithOptionalAttrs(types, optional)
	switch nested.NestingMode {
	case tfjson.SchemaNestingModeList:
		return cty.List(object)
	case tfjson.SchemaNestingModeSet:
		return cty.Set(object)
	case tfjson.SchemaNestingModeMap:
		return cty.Map(object)
	default:
		return object
	}
}

func nestedSpec(name string, nested *tfjson.SchemaBlockType) hcldec.Spec {
	content := blockSpec(nested.Block)
	low, high := int(nested.MinItems), int(nested.MaxItems) //nolint:gosec // small numbers
	// Collections need elements of one type. Where that is open, blocks become tuples and objects.
	dynamic := hcldec.ImpliedType(content).HasDynamicTypes()
	switch nested.NestingMode {
	case tfjson.SchemaNestingModeList:
		if dynamic {
			return &hcldec.BlockTupleSpec{TypeName: name, Nested: content, MinItems: low, MaxItems: high}
		}
		return &hcldec.BlockListSpec{TypeName: name, Nested: content, MinItems: low, MaxItems: high}
	case tfjson.SchemaNestingModeSet:
		return &hcldec.BlockSetSpec{TypeName: name, Nested: content, MinItems: low, MaxItems: high}
	case tfjson.SchemaNestingModeMap:
		if dynamic {
			return &hcldec.BlockObjectSpec{TypeName: name, LabelNames: []string{"key"}, Nested: content}
		}
		return &hcldec.BlockMapSpec{TypeName: name, LabelNames: []string{"key"}, Nested: content}
	case tfjson.SchemaNestingModeGroup:
		return &hcldec.DefaultSpec{
			Primary: &hcldec.BlockSpec{TypeName: name, Nested: content},
			Default: &hcldec.LiteralSpec{Value: emptyBlock(nested.Block)},
		}
	default:
		return &hcldec.BlockSpec{TypeName: name, Nested: content, Required: low > 0}
	}
}

// emptyBlock is the value of a block of which nothing is set.
func emptyBlock(block *tfjson.SchemaBlock) cty.Value {
	values := map[string]cty.Value{}
	for name, attr := range block.Attributes {
		values[name] = cty.NullVal(attributeType(attr).WithoutOptionalAttributesDeep())
	}
	for name, nested := range block.NestedBlocks {
		element := hcldec.ImpliedType(blockSpec(nested.Block)).WithoutOptionalAttributesDeep()
		switch nested.NestingMode {
		case tfjson.SchemaNestingModeList:
			values[name] = cty.ListValEmpty(element)
		case tfjson.SchemaNestingModeSet:
			values[name] = cty.SetValEmpty(element)
		case tfjson.SchemaNestingModeMap:
			values[name] = cty.MapValEmpty(element)
		case tfjson.SchemaNestingModeGroup:
			values[name] = emptyBlock(nested.Block)
		default:
			values[name] = cty.NullVal(element)
		}
	}
	return cty.ObjectVal(values)
}
