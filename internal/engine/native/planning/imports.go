// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
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
	targets, err := i.targets.Do(ctx, "import of "+i.config.Block.String(), func(ctx context.Context) (map[stackaddrs.ResourceInstance]eval.Place, error) {
		return i.evaluate(ctx, p), nil
	})
	if err != nil {
		p.eval.Diagnostics.Failed(err, i.config.Range.Ptr())
	}
	return targets, err == nil && targets != nil
}

// evaluate returns nil after an error.
func (i *importBlock) evaluate(ctx context.Context, p *planner) map[stackaddrs.ResourceInstance]eval.Place {
	root := p.eval.Root()
	places := []eval.Place{{}}
	if i.config.ForEach != nil {
		result, ok := root.Eval(ctx, i.config.ForEach, eval.Place{})
		if !ok {
			return nil
		}
		if places, ok = p.importPlaces(result); !ok {
			return nil
		}
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

// importPlaces returns one place for each element of the argument for_each. There is none if that
// is null.
func (p *planner) importPlaces(result eval.Result) ([]eval.Place, bool) {
	value, found := result.Value.Unmark()
	_, ephemeral := found[marks.Ephemeral]
	switch {
	case ephemeral || !value.IsKnown() || !module.CanImportEach(value):
		return nil, p.eval.Diagnostics.Add(result.Error("Invalid for_each argument",
			"The objects to import come from a map, a set or a list, which must be known and not ephemeral."))
	case value.IsNull():
		return nil, true
	}
	var places []eval.Place
	for it := value.ElementIterator(); it.Next(); {
		key, element := it.Element()
		if value.Type().IsSetType() {
			key = element
		}
		places = append(places, eval.Place{
			Repetition: eval.Repetition{Mode: eval.ByKey, Key: key.WithMarks(found), Value: element.WithMarks(found)},
		})
	}
	return places, true
}

// address returns the address that an object gets.
func (i *importBlock) address(ctx context.Context, p *planner, at eval.Place) (stackaddrs.ResourceInstance, bool) {
	module, key := stackaddrs.RootModuleInstance, stackaddrs.NoKey
	for n, step := range i.config.Steps {
		key = stackaddrs.NoKey
		if step.Key != nil {
			var ok bool
			if key, ok = p.evalKey(ctx, p.eval.Root(), step.Key, at); !ok {
				return stackaddrs.ResourceInstance{}, false
			}
		}
		if n < len(i.config.Steps)-1 {
			module = module.Child(step.Name, key)
		}
	}
	return stackaddrs.ResourceInstance{Module: module, Resource: i.config.Block.Resource, Key: key}, true
}

// evalKey evaluates the key of an instance.
func (p *planner) evalKey(ctx context.Context, m *eval.Module, expr hcl.Expression, at eval.Place) (stackaddrs.InstanceKey, bool) {
	found, diags := refs.InExpr(expr)
	if !p.eval.Diagnostics.AddTo(at.Resource, diags...) {
		return stackaddrs.NoKey, false
	}
	result, ok := m.Eval(ctx, &module.Expr{Expression: expr, Refs: found}, at)
	if !ok {
		return stackaddrs.NoKey, false
	}
	bare, _ := result.Value.Unmark()
	if bare.IsKnown() && !bare.IsNull() {
		if key, ok := stackaddrs.KeyFromValue(bare); ok {
			return key, true
		}
	}
	return stackaddrs.NoKey, p.eval.Diagnostics.Add(result.Error("Invalid instance key", "The key of an instance is a known string or whole number."))
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
func (p *planner) importName(ctx context.Context, t *resource.Target, config *module.Import, at eval.Place) (named resource.Imported, known, ok bool) {
	expr, ty := config.ID, cty.String
	if config.Identity != nil {
		expr = config.Identity
		if t.Identity == nil {
			return named, false, p.badImport(config, "Unknown identity", "Objects of "+t.Name+" have no identity to be imported by. Use an ID.")
		}
		ty = importType(t)
	}
	result, ok := p.eval.Root().Eval(ctx, expr, at)
	if !ok {
		return named, false, false
	}
	reject := func(detail string) (resource.Imported, bool, bool) {
		return named, false, p.eval.Diagnostics.Add(result.Error("Invalid import argument", detail))
	}
	if marks.Contains(result.Value, marks.Ephemeral) {
		return reject("The ID or identity of an object cannot be ephemeral.")
	}
	bare, _ := result.Value.UnmarkDeep()
	value, err := convert.Convert(bare, ty)
	switch {
	case err != nil:
		return reject("The value does not have the right type: " + err.Error() + ".")
	case value.IsNull():
		return reject("The ID or identity of an object cannot be null.")
	case !value.IsWhollyKnown():
		return named, false, true
	case config.Identity != nil:
		return resource.Imported{Identity: value}, true, true
	case value.AsString() == "":
		return reject("The ID cannot be empty.")
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
					p.badImport(block.config, "Undeclared import target", "The configuration has no instance "+addr.String()+" that an object could be imported as.")
				}
			}
		}
	}
}
