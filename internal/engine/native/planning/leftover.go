// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/configs"
	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// leftOver is an object that nothing declares any more, or a deposed one.
type leftOver struct {
	planner  *planner
	declared bool // there is a block of the resource, which declares other instances
	stored   *state.Object
	reason   engine.ActionReason
}

// leftOver returns the objects of a declared block that it does not declare any more.
func (p *planner) leftOver(r *eval.Resource, x eval.Expansion) []leftOver {
	held := p.prior.Resource(r.Module.Addr, r.Config.Addr)
	if held == nil {
		return nil
	}
	var left []leftOver
	for _, i := range held.Instances {
		if i.Current != nil && !x.Has(i.Key) {
			left = append(left, leftOver{p, true, i.Current, wrongKey(x, i.Key)})
		}
		for _, deposed := range i.Deposed {
			left = append(left, leftOver{p, true, deposed, ""})
		}
	}
	return left
}

// wrongKey says why an instance is not declared.
func wrongKey(x eval.Expansion, key stackaddrs.InstanceKey) engine.ActionReason {
	_, text := key.AsString()
	switch {
	case x.Mode == eval.ByCount && key != stackaddrs.NoKey && !text:
		return engine.DeleteBecauseCountIndex
	case x.Mode == eval.ByKey && text:
		return engine.DeleteBecauseEachKey
	default:
		return engine.DeleteBecauseWrongRepetition
	}
}

// orphans plans the end of objects whose blocks, or module instances, are not declared any more. All that is declared is planned already.
func (p *planner) orphans(ctx context.Context) {
	var all promising.Group
	for _, held := range p.prior.Resources() {
		reason, orphaned := p.orphaned(ctx, held.Addr)
		if !orphaned {
			continue
		}
		for _, i := range held.Instances {
			for _, object := range i.Objects() {
				left := leftOver{p, false, object, reason}
				if object.Entry.Deposed != "" {
					left.reason = ""
				}
				all.Go(ctx, func(ctx context.Context) { left.plan(ctx) })
			}
		}
	}
	all.Wait()
}

// orphaned reports whether nothing declares a resource, and why.
func (p *planner) orphaned(ctx context.Context, addr state.ResourceAddr) (engine.ActionReason, bool) {
	if p.tree(addr.Module) == nil {
		return engine.DeleteBecauseNoModule, true
	}
	if p.belowUnknown(ctx, addr.Module) {
		return "", false
	}
	m := p.eval.Module(ctx, addr.Module)
	switch {
	case m == nil:
		return engine.DeleteBecauseNoModule, true
	case m.Resource(addr.Resource) == nil:
		return engine.DeleteBecauseNoResourceConfig, true
	default:
		return "", false
	}
}

// tree returns the configuration of a module instance, or nil if there is none.
func (p *planner) tree(addr stackaddrs.ModuleInstance) *configs.Tree {
	tree := p.Tree
	for _, step := range addr.Path() {
		if tree = tree.Children[step.Name]; tree == nil {
			return nil
		}
	}
	return tree
}

// belowUnknown reports whether it is not known which instances there are of one of the calls that lead to a module, or could not be found out. Objects below it are kept.
func (p *planner) belowUnknown(ctx context.Context, addr stackaddrs.ModuleInstance) bool {
	caller, step, ok := addr.Parent()
	if !ok {
		return false
	}
	if p.belowUnknown(ctx, caller) {
		return true
	}
	m := p.eval.Module(ctx, caller)
	if m == nil {
		return false
	}
	x, ok := m.CallNamed(step.Name).Expand(ctx)
	return !ok || x.Unknown
}

// plan plans what becomes of the object.
func (l leftOver) plan(ctx context.Context) bool {
	p, addr, deposed := l.planner, l.stored.Entry.Addr, l.stored.Entry.Deposed
	if addr.Resource.Mode == stackaddrs.DataResource {
		p.fresh.Remove(addr, deposed)
		return true
	}
	t, ok := p.rt.StoredTarget(ctx, p.tree(addr.Module), l.stored)
	if !ok {
		return false
	}
	object, ok := l.find(ctx, t)
	if !ok || object == nil {
		return ok
	}
	if !l.declared && p.forgets(addr) {
		return p.forget(t, l, object)
	}
	c, ok := p.rt.PlanDestroy(ctx, t, object)
	if !ok {
		return false
	}
	if c.Deferred == "" && p.deferredAmong(object.Dependencies) {
		c.Deferred = deferredPrerequisite
	}
	change := p.change(t, c, found{})
	change.Deposed, change.Reason, change.CreateBeforeDestroy = deposed, l.reason, object.CreateBeforeDestroy
	p.record(change)
	return deposed != "" || p.mayDestroy(t, c.Action)
}

// find decodes and reads the object. It is nil if it is gone.
func (l leftOver) find(ctx context.Context, t *resource.Target) (*resource.Object, bool) {
	p, deposed := l.planner, l.stored.Entry.Deposed
	object, ok := p.rt.Upgrade(ctx, t, l.stored, p.storedAs(t.Addr))
	if !ok || p.SkipRefresh || !t.Known {
		return object, ok
	}
	fresh, _, ok := p.rt.Refresh(ctx, t, object)
	if !ok {
		return nil, false
	}
	if deposed == "" {
		p.compare(t, object, fresh)
	}
	if fresh == nil {
		p.fresh.Remove(t.Addr, deposed)
		return nil, true
	}
	return fresh, p.keep(t, fresh, deposed)
}

// forget plans that an object is not managed any more.
func (p *planner) forget(t *resource.Target, l leftOver, o *resource.Object) bool {
	p.record(&planned.Change{
		Addr: t.Addr, Previous: p.previous(t.Addr), Deposed: l.stored.Entry.Deposed, Provider: t.Of, Alias: t.Slot.Alias,
		Action: engine.ActionForget, Reason: l.reason, Before: o.Value, After: t.Null(), BeforeIdentity: o.Identity, AfterIdentity: cty.NilVal,
	})
	return true
}

// deferredAmong reports whether one of the blocks with these addresses is deferred.
func (p *planner) deferredAmong(addresses []string) bool {
	if p.DeferAll {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.mu.deferred) == 0 {
		return false
	}
	deferred := make(map[string]bool, len(p.mu.deferred))
	for addr := range p.mu.deferred {
		deferred[addr.String()] = true
	}
	for _, address := range addresses {
		if deferred[address] {
			return true
		}
	}
	return false
}

// destroy plans the end of everything. What there is now is found out by planning as usual, whose changes do not count.
func (p *planner) destroy(ctx context.Context) {
	if !p.SkipRefresh && !p.prior.IsEmpty() {
		p.eval.Walk(ctx, p)
		p.orphans(ctx)
		if p.eval.Diagnostics.HasErrors() {
			return
		}
	}
	p.mu.Lock()
	p.mu.changes = nil
	p.mu.deferred = map[stackaddrs.ResourceInstance]bool{}
	p.mu.Unlock()
	now, err := p.fresh.State()
	if err != nil {
		p.eval.Diagnostics.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unusable state", Detail: err.Error() + "."})
		return
	}
	var all promising.Group
	for _, held := range now.Resources() {
		for _, i := range held.Instances {
			for _, object := range i.Objects() {
				all.Go(ctx, func(ctx context.Context) { p.destroyOne(ctx, object) })
			}
		}
	}
	all.Wait()
}

func (p *planner) destroyOne(ctx context.Context, stored *state.Object) {
	addr := stored.Entry.Addr
	if addr.Resource.Mode == stackaddrs.DataResource {
		p.fresh.Remove(addr, stored.Entry.Deposed)
		return
	}
	t, ok := p.rt.StoredTarget(ctx, p.tree(addr.Module), stored)
	if !ok {
		return
	}
	object, ok := p.rt.Upgrade(ctx, t, stored, stackaddrs.Resource{})
	if !ok {
		return
	}
	c, ok := p.rt.PlanDestroy(ctx, t, object)
	if !ok {
		return
	}
	change := p.change(t, c, found{})
	change.Previous = stackaddrs.ResourceInstance{}
	change.Deposed, change.CreateBeforeDestroy = stored.Entry.Deposed, object.CreateBeforeDestroy
	if c.Deferred == "" && p.DeferAll {
		change.Deferred = deferredPrerequisite
	}
	p.record(change)
	if stored.Entry.Deposed == "" {
		p.mayDestroy(t, c.Action)
	}
}
