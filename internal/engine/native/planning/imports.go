// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// importBlock is an import block, with the objects that it imports by the addresses that they get.
type importBlock struct {
	config  *module.Import
	targets promising.Once[map[stackaddrs.ResourceInstance]eval.Place]
}

// findImports collects the import blocks. The keys in their addresses are evaluated later.
func (p *planner) findImports() {
	for _, config := range p.Tree.Imports {
		p.imports[config.Block] = append(p.imports[config.Block], &importBlock{config: config})
	}
}

func (p *planner) badImport(config *module.Import, summary, detail string) bool {
	return p.eval.Diagnostics.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: config.To.Range().Ptr()})
}

// find returns the places of the objects that a block imports, by the addresses that they get.
func (i *importBlock) find(ctx context.Context, p *planner) (map[stackaddrs.ResourceInstance]eval.Place, bool) {
	targets, err := i.targets.Do(ctx, "import of "+i.config.Block.String(),
		func(ctx context.Context) (map[stackaddrs.ResourceInstance]eval.Place, error) {
			return i.evaluate(ctx, p), nil
		})
	if err != nil {
		p.eval.Diagnostics.Failed(err, i.config.Range.Ptr())
	}
	return targets, err == nil && targets != nil
}

// evaluate returns nil after an error.
func (i *importBlock) evaluate(ctx context.Context, p *planner) map[stackaddrs.ResourceInstance]eval.Place {
	places, ok := p.eval.Root().ImportPlaces(ctx, i.config)
	if !ok {
		return nil
	}
	targets := make(map[stackaddrs.ResourceInstance]eval.Place, len(places))
	for _, at := range places {
		addr, ok := i.address(ctx, p, at)
		if !ok {
			return nil
		}
		if _, twice := targets[addr]; twice {
			p.badImport(i.config, "Duplicate import target", "The block imports two objects as "+addr.String()+".")
			return nil
		}
		at.Resource = addr.String()
		targets[addr] = at
	}
	return targets
}

// address returns the address that an object gets.
func (i *importBlock) address(ctx context.Context, p *planner, at eval.Place) (stackaddrs.ResourceInstance, bool) {
	module, key := stackaddrs.RootModuleInstance, stackaddrs.NoKey
	for n, step := range i.config.Steps {
		key = stackaddrs.NoKey
		if step.Key != nil {
			var ok bool
			if key, ok = p.eval.Root().InstanceKey(ctx, step.Key, at); !ok {
				return stackaddrs.ResourceInstance{}, false
			}
		}
		if n < len(i.config.Steps)-1 {
			module = module.Child(step.Name, key)
		}
	}
	return stackaddrs.ResourceInstance{Module: module, Resource: i.config.Block.Resource, Key: key}, true
}

// imported imports the object of an instance that the state does not have, if a block says so.
func (p *planner) imported(ctx context.Context, t *resource.Target) (found, bool) {
	blocks := p.imports[resource.ConfigAddr(t.Addr)]
	if len(blocks) == 0 || p.Mode == engine.Destroy {
		return found{}, true
	}
	var from *importBlock
	var at eval.Place
	for _, block := range blocks {
		targets, ok := block.find(ctx, p)
		if !ok {
			return found{}, false
		}
		place, named := targets[t.Addr]
		switch {
		case named && from != nil:
			return found{}, p.badImport(block.config, "Duplicate import target", "Another block imports an object as "+t.Address+", too.")
		case named:
			from, at = block, place
		}
	}
	if from == nil {
		return found{}, true
	}
	return p.importOne(ctx, t, from.config, at)
}

func (p *planner) importOne(ctx context.Context, t *resource.Target, config *module.Import, at eval.Place) (found, bool) {
	named, known, ok := p.importName(ctx, t, config, at)
	switch {
	case !ok:
		return found{}, false
	case !known:
		return found{importing: &engine.Importing{Identity: cty.NilVal, Unknown: true}, deferred: provider.DeferredResourceConfigUnknown}, true
	}
	importing := &engine.Importing{ID: named.ID, Identity: named.Identity}
	if !t.Known {
		return found{importing: importing, deferred: provider.DeferredProviderConfigUnknown}, true
	}
	object, deferred, ok := p.rt.Import(ctx, t, named)
	if !ok {
		return found{}, false
	}
	result := found{object: object, importing: importing, deferred: deferred}
	if object == nil {
		return result, true
	}
	object.Dependencies, object.CreateBeforeDestroy = p.rt.Dependencies(t), p.rt.CreateFirst(t)
	return result, p.keep(t, object, "")
}

// importName evaluates the ID or the identity of the object.
func (p *planner) importName(ctx context.Context, t *resource.Target, config *module.Import,
	at eval.Place,
) (named resource.Imported, known, ok bool) {
	identity := cty.NilType
	if config.Identity != nil {
		if t.Identity == nil {
			return named, false, p.badImport(config, "Unknown identity", "Objects of "+t.Name+" have no identity to be imported by. Use an ID.")
		}
		identity = importType(t)
	}
	value, ok := p.eval.Root().ImportName(ctx, config, identity, at)
	switch {
	case !ok || !value.IsWhollyKnown():
		return named, false, ok
	case config.Identity != nil:
		return resource.Imported{Identity: value}, true, true
	}
	return resource.Imported{ID: value.AsString(), Identity: cty.NilVal}, true, true
}

// importType returns the type of identities in configurations, where some attributes can be
// missing.
func importType(t *resource.Target) cty.Type {
	types := make(map[string]cty.Type, len(t.Identity.Attributes))
	var optional []string
	for _, attr := range t.Identity.Attributes {
		types[attr.Name] = attr.Type
		if !attr.RequiredForImport {
			optional = append(optional, attr.Name)
		}
	}
	return cty.ObjectWithOptionalAttrs(types, optional)
}

// checkImports reports objects that would become those of instances that there are not.
func (p *planner) checkImports(ctx context.Context) {
	for _, blocks := range p.imports {
		for _, block := range blocks {
			targets, _ := block.find(ctx, p)
			for addr := range targets {
				if !(declared{p, ctx}).mayHave(ctx, addr) {
					p.badImport(block.config, "Undeclared import target", "The configuration has no instance "+addr.String()+
						" that an object could be imported as.")
				}
			}
		}
	}
}
