// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// leftOver is an object that nothing declares any more, or a deposed one, or one of which that is
// not known yet.
type leftOver struct {
	planner *planner
	stored  *state.Object
	reason  engine.ActionReason
	removed bool // there is no block of the resource
	kept    bool // whether it is declared is not known yet: it is only read
	once    promising.Once[bool]
}

// leftOver returns the objects of a declared block that it does not declare any more, or all if it
// is not known which it declares.
func (p *planner) leftOver(r *eval.Resource, x eval.Expansion) []*leftOver {
	held := p.prior.Resource(r.Module.Addr, r.Config.Addr)
	if held == nil {
		return nil
	}
	var left []*leftOver
	for _, i := range held.Instances {
		if i.Current != nil && !x.Has(i.Key) {
			left = append(left, &leftOver{planner: p, stored: i.Current, reason: wrongKey(x, i.Key), kept: x.Unknown})
		}
		for _, deposed := range i.Deposed {
			left = append(left, &leftOver{planner: p, stored: deposed, kept: x.Unknown})
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
	case x.Mode == eval.Single && key == stackaddrs.NoKey:
		return engine.DeleteBecauseNotEnabled
	default:
		return engine.DeleteBecauseWrongRepetition
	}
}

// orphans plans the end of objects whose blocks, or module instances, are not declared any more.
// All that is declared is planned already.
func (p *planner) orphans(ctx context.Context) {
	var all promising.Group
	for _, held := range p.prior.Resources() {
		reason, kept, orphaned := p.orphaned(ctx, held.Addr)
		if !orphaned {
			continue
		}
		for _, i := range held.Instances {
			for _, object := range i.Objects() {
				left := &leftOver{planner: p, stored: object, reason: reason, removed: true, kept: kept}
				switch {
				case object.Entry.Deposed != "":
					left.reason = ""
				case left.reason == engine.DeleteBecauseNoResourceConfig && p.previous(object.Entry.Addr) != stackaddrs.ResourceInstance{}:
					left.reason = engine.DeleteBecauseNoMoveTarget
				}
				all.Go(ctx, func(ctx context.Context) { left.plan(ctx) })
			}
		}
	}
	all.Wait()
}

// orphaned reports whether nothing declares a resource, or whether that is not known, and why.
func (p *planner) orphaned(ctx context.Context, addr state.ResourceAddr) (reason engine.ActionReason, kept, orphaned bool) {
	tree := p.Tree.At(addr.Module)
	if tree == nil {
		return engine.DeleteBecauseNoResourceConfig, false, true
	}
	if p.belowUnknown(ctx, addr.Module) {
		return "", true, true
	}
	switch {
	case tree.Resources[addr.Resource] == nil: // also where the module instance is gone
		return engine.DeleteBecauseNoResourceConfig, false, true
	case p.eval.Module(ctx, addr.Module) == nil:
		return engine.DeleteBecauseNoModule, false, true
	default:
		return "", false, false
	}
}

// belowUnknown reports whether it is not known which instances there are of one of the calls that
// lead to a module, or could not be found out. Objects below it are kept.
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

// plan plans the change of the object, once, and reports whether that succeeded.
func (l *leftOver) plan(ctx context.Context) bool {
	ok, err := l.once.Do(ctx, l.stored.Entry.Addr.String(), func(ctx context.Context) (bool, error) { return l.end(ctx), nil })
	return ok && err == nil
}

func (l *leftOver) end(ctx context.Context) bool {
	p, addr := l.planner, l.stored.Entry.Addr
	if addr.Resource.Mode == stackaddrs.DataResource {
		if !l.kept {
			p.fresh.Remove(addr, l.stored.Entry.Deposed)
		}
		return true
	}
	t, ok := p.rt.StoredTarget(ctx, p.Tree.At(addr.Module), l.stored)
	if !ok {
		return false
	}
	object, ok := p.rt.Upgrade(ctx, t, l.stored, p.storedAs(t.Addr))
	if !ok {
		return false
	}
	forgotten := l.removed && p.forgets(addr) || p.leaves(addr)
	if forgotten && !l.kept && p.Mode == engine.Normal { // whether it is still there makes no difference
		return p.forget(t, l, object)
	}
	object, ok = l.refresh(ctx, t, object)
	if !ok || object == nil || l.kept || p.Mode.KeepsObjects() {
		return ok
	}
	if forgotten {
		return p.forget(t, l, object)
	}
	return p.planDelete(ctx, t, l, object)
}

// refresh reads the object. It is nil if it is gone.
func (l *leftOver) refresh(ctx context.Context, t *resource.Target, object *resource.Object) (*resource.Object, bool) {
	p, deposed := l.planner, l.stored.Entry.Deposed
	if p.SkipRefresh || !t.Known {
		return object, true
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
func (p *planner) forget(t *resource.Target, l *leftOver, o *resource.Object) bool {
	p.record(&planned.Change{
		Change: engine.Change{
			Addr: t.Addr, PreviousAddr: p.previous(t.Addr), Deposed: l.stored.Entry.Deposed, Provider: t.Of,
			Action: engine.ActionForget, Reason: l.reason, Before: o.Value, After: t.Null(), BeforeIdentity: o.Identity, AfterIdentity: cty.NilVal,
		},
		Alias: t.Slot.Alias,
	})
	p.noteForgotten(t.Addr, l.stored.Entry.Deposed)
	return true
}

func (p *planner) noteForgotten(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.forgotten = append(p.mu.forgotten, stackaddrs.ResourceInstanceObject{Instance: addr, Deposed: deposed}.String())
}
