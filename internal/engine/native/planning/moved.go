// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/engine/native/moves"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// move gives the objects of the prior state the addresses that they have now. Without an error,
// p.prior is the state after that.
func (p *planner) move(prior *state.State) bool {
	removals, diags := moves.FindRemovals(p.Tree)
	p.removals = removals
	ok := p.eval.Diagnostics.Add(diags...)
	statements, diags := moves.Find(p.Tree, prior)
	if !p.eval.Diagnostics.Add(diags...) || !ok {
		return false
	}
	p.statements = statements
	result, err := statements.Apply(prior)
	if err != nil {
		return p.unusable(err)
	}
	p.prior, p.fresh, p.moved = result.State, result.State.Working(), result.Previous
	return p.eval.Diagnostics.Add(result.Diagnostics()...)
}

func (p *planner) unusable(err error) bool {
	return p.eval.Diagnostics.Add(failure.New("Unusable state", "%s.", err))
}

// previous returns the address that an object had before, or the zero value if that is the same.
func (p *planner) previous(addr stackaddrs.ResourceInstance) stackaddrs.ResourceInstance {
	return p.moved[addr]
}

// storedAs returns the resource that an object was stored as, or the zero value if that is the
// same.
func (p *planner) storedAs(addr stackaddrs.ResourceInstance) stackaddrs.Resource {
	return p.moved[addr].Resource
}

// forgets reports whether a removed block says that an object is to be left alone.
func (p *planner) forgets(addr stackaddrs.ResourceInstance) bool {
	block, _ := p.removals.Covering(addr)
	return block != nil && !block.Destroy
}

// leaves reports whether the block of an object, which need not declare this one any more, says
// that its objects are forgotten where they would be destroyed.
func (p *planner) leaves(addr stackaddrs.ResourceInstance) bool {
	config := p.config(addr)
	return config != nil && config.Forgets
}

// warnForgotten reports the objects that will not be managed any more.
func (p *planner) warnForgotten() {
	if len(p.mu.forgotten) == 0 {
		return
	}
	slices.Sort(p.mu.forgotten)
	p.eval.Diagnostics.Add(failure.Warning("Objects no longer managed",
		"The plan forgets some objects without destroying them, since removed blocks, or lifecycle blocks with destroy = false, say so:"+
			"\n  - %s\n\nAfter applying it, they go on to exist, and nothing here knows of them.", strings.Join(p.mu.forgotten, "\n  - ")))
}

// declared tells package moves which instances there are.
type declared struct {
	planner *planner
	ctx     context.Context //nolint:containedctx // of the one call that it is made for
}

var _ moves.Declared = declared{}

// ModuleInstances implements [moves.Declared].
func (d declared) ModuleInstances(path []string) []stackaddrs.ModuleInstance {
	return d.below(stackaddrs.RootModuleInstance, path)
}

func (d declared) below(caller stackaddrs.ModuleInstance, path []string) []stackaddrs.ModuleInstance {
	if len(path) == 0 {
		return []stackaddrs.ModuleInstance{caller}
	}
	m := d.planner.eval.Module(d.ctx, caller)
	if m == nil || m.CallNamed(path[0]) == nil {
		return nil
	}
	x, ok := m.CallNamed(path[0]).Expand(d.ctx)
	if !ok || x.Unknown {
		return nil
	}
	var found []stackaddrs.ModuleInstance
	for _, key := range x.Keys {
		found = append(found, d.below(caller.Child(path[0], key), path[1:])...)
	}
	return found
}

// HasModule implements [moves.Declared].
func (d declared) HasModule(module stackaddrs.ModuleInstance) bool {
	return d.planner.eval.Module(d.ctx, module) != nil
}

// HasInstance implements [moves.Declared].
func (d declared) HasInstance(addr stackaddrs.ResourceInstance) bool {
	m := d.planner.eval.Module(d.ctx, addr.Module)
	if m == nil || m.Resource(addr.Resource) == nil {
		return false
	}
	x, ok := m.Resource(addr.Resource).Expand(d.ctx)
	return ok && x.Has(addr.Key)
}

// mayHave is HasInstance, and also true where it is not known, or could not be found out, which
// instances there are.
func (d declared) mayHave(ctx context.Context, addr stackaddrs.ResourceInstance) bool {
	if d.planner.belowUnknown(ctx, addr.Module) {
		return true
	}
	m := d.planner.eval.Module(ctx, addr.Module)
	if m == nil || m.Resource(addr.Resource) == nil {
		return false
	}
	x, ok := m.Resource(addr.Resource).Expand(ctx)
	return !ok || x.Unknown || x.Has(addr.Key)
}
