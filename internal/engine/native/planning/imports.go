// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// importConfig is an import block in the configuration.
type importConfig struct {
	*module.Import
	in stackaddrs.ModuleInstance // the declaring module, without keys
}

// importBlock is an import block in a module instance, with the objects that it imports by the
// addresses that they get.
type importBlock struct {
	config  *module.Import
	module  *eval.Module
	targets promising.Once[map[stackaddrs.ResourceInstance]eval.Place]
}

// findImports collects the import blocks of a module and of those that it calls, outer ones first.
// The keys in their addresses are evaluated later.
func (p *planner) findImports(tree *module.Node, in stackaddrs.ModuleInstance) {
	for _, config := range tree.Imports {
		block := stackaddrs.ResourceInstance{Module: in, Resource: config.Block.Resource}
		for _, step := range config.Block.Module.Path() {
			block.Module = block.Module.Child(step.Name, stackaddrs.NoKey)
		}
		p.imports[block] = append(p.imports[block], importConfig{config, in})
	}
	for name, child := range tree.Children {
		p.findImports(child, in.Child(name, stackaddrs.NoKey))
	}
}

// importBlock returns a block in an instance of the module that declares it.
func (p *planner) importBlock(config *module.Import, m *eval.Module) *importBlock {
	type key struct {
		config *module.Import
		module *eval.Module
	}
	block, _ := p.importBlocks.LoadOrStore(key{config, m}, &importBlock{config: config, module: m})
	return block.(*importBlock)
}

func (p *planner) badImport(config *module.Import, summary, detail string) bool {
	return p.eval.Diagnostics.Add(failure.At(config.To.Range(), summary, "%s", detail))
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
	places, ok := i.module.ImportPlaces(ctx, i.config)
	if !ok {
		return nil
	}
	targets := make(map[stackaddrs.ResourceInstance]eval.Place, len(places))
	for _, at := range places {
		addr, ok := i.address(ctx, at)
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
func (i *importBlock) address(ctx context.Context, at eval.Place) (stackaddrs.ResourceInstance, bool) {
	module, key := i.module.Addr, stackaddrs.NoKey
	for n, step := range i.config.Steps {
		key = stackaddrs.NoKey
		if step.Key != nil {
			var ok bool
			if key, ok = i.module.InstanceKey(ctx, step.Key, at); !ok {
				return stackaddrs.ResourceInstance{}, false
			}
		}
		if n < len(i.config.Steps)-1 {
			module = module.Child(step.Name, key)
		}
	}
	return stackaddrs.ResourceInstance{Module: module, Resource: i.config.Block.Resource, Key: key}, true
}

// imported imports the object of an instance that the state does not have, if a block says so. Of
// blocks in several modules the outermost counts, as it knows more.
func (p *planner) imported(ctx context.Context, t *resource.Target) (found, bool) {
	configs := p.imports[resource.ConfigAddr(t.Addr)]
	if len(configs) == 0 || p.Mode == engine.Destroy {
		return found{}, true
	}
	var from *importBlock
	var at eval.Place
	for _, config := range configs {
		block := p.importBlock(config.Import, ancestor(t.Resource.Module, config.in))
		if from != nil && from.module != block.module {
			break
		}
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
	return p.importOne(ctx, t, from, at)
}

// ancestor returns the instance of the module at an address without keys that a module is in, or
// the module itself.
func ancestor(m *eval.Module, at stackaddrs.ModuleInstance) *eval.Module {
	for range len(m.Addr.Path()) - len(at.Path()) {
		m = m.Parent()
	}
	return m
}

func (p *planner) importOne(ctx context.Context, t *resource.Target, from *importBlock, at eval.Place) (found, bool) {
	named, known, ok := p.importName(ctx, t, from, at)
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
func (p *planner) importName(ctx context.Context, t *resource.Target, from *importBlock,
	at eval.Place,
) (named resource.Imported, known, ok bool) {
	config := from.config
	identity := cty.NilType
	if config.Identity != nil {
		if t.Identity == nil {
			return named, false, p.badImport(config, "Unknown identity", "Objects of "+t.Name+" have no identity to be imported by. Use an ID.")
		}
		identity = t.ImportIdentity()
	}
	value, ok := from.module.ImportName(ctx, config, identity, at)
	switch {
	case !ok || !value.IsWhollyKnown():
		return named, false, ok
	case config.Identity != nil:
		return resource.Imported{Identity: value}, true, true
	}
	return resource.Imported{ID: value.AsString(), Identity: cty.NilVal}, true, true
}

// checkImports reports objects that would become those of instances that there are not.
func (p *planner) checkImports(ctx context.Context) {
	for _, configs := range p.imports {
		for _, config := range configs {
			for _, m := range p.eval.Instances(ctx, config.in) {
				p.checkTargets(ctx, p.importBlock(config.Import, m))
			}
		}
	}
}

func (p *planner) checkTargets(ctx context.Context, block *importBlock) {
	targets, _ := block.find(ctx, p)
	for addr := range targets {
		if !(declared{p, ctx}).mayHave(ctx, addr) {
			p.badImport(block.config, "Undeclared import target", "The configuration has no instance "+addr.String()+
				" that an object could be imported as.")
		}
	}
}
