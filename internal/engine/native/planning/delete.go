// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// deletion is a planned deletion. Whether it is deferred is decided when all is planned.
type deletion struct {
	*planned.Change
	target       *resource.Target
	dependencies []string // addresses in the configuration
}

// planDelete plans the destruction of an object.
func (p *planner) planDelete(ctx context.Context, t *resource.Target, l *leftOver, o *resource.Object) bool {
	c, ok := p.rt.PlanDestroy(ctx, t, o)
	if !ok {
		return false
	}
	var invocations []*planned.Invocation
	if l.stored.Entry.Deposed == "" {
		if invocations, ok = p.lastInvocations(ctx, t, c); !ok {
			return false
		}
	}
	change := p.change(t, c, found{})
	change.Invocations = invocations
	change.Deposed, change.Reason, change.CreateBeforeDestroy = l.stored.Entry.Deposed, l.reason, o.CreateBeforeDestroy
	if p.Mode == engine.Destroy {
		change.PreviousAddr = stackaddrs.ResourceInstance{}
	}
	p.record(change)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.deletes = append(p.mu.deletes, &deletion{change, t, o.Dependencies})
	return true
}

// finishDeletes defers deletions of objects that depend on a deferred one, and checks that the
// others may be deleted.
func (p *planner) finishDeletes(ctx context.Context) {
	deferred := make(map[string]bool, len(p.mu.deferred))
	for addr := range p.mu.deferred {
		deferred[addr.String()] = true
	}
	for again := len(deferred) > 0 || p.DeferAll; again; {
		again = false
		for _, d := range p.mu.deletes {
			if d.Deferred != "" || !p.DeferAll && !slices.ContainsFunc(d.dependencies, func(addr string) bool { return deferred[addr] }) {
				continue
			}
			block := resource.ConfigAddr(d.Addr)
			d.Deferred, p.mu.deferred[block], deferred[block.String()], again = deferredPrerequisite, true, true, true
			for _, i := range d.Invocations {
				i.Deferred = deferredPrerequisite
			}
		}
	}
	for _, d := range p.mu.deletes {
		if d.Deposed == "" && d.Deferred == "" {
			p.mayDestroy(ctx, d.target, d.Action)
		}
	}
}

// destroy plans the end of everything. The present objects are found by planning as usual, whose
// changes do not count, nor does drift: all objects end.
func (p *planner) destroy(ctx context.Context) {
	if !p.prior.IsEmpty() && (!p.SkipRefresh || p.triggersLast()) {
		p.walk(ctx)
		p.orphans(ctx)
		if p.eval.Diagnostics.HasErrors() {
			return
		}
	}
	p.forgetChanges()
	now, err := p.fresh.State()
	if err != nil {
		p.unusable(err)
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

// triggersLast reports whether the end of some object triggers an action, whose configuration may
// refer to other objects.
func (p *planner) triggersLast() bool {
	return slices.ContainsFunc(p.prior.Resources(), func(held *state.Resource) bool {
		tree := p.Tree.At(held.Addr.Module)
		return tree != nil && tree.Resources[held.Addr.Resource] != nil && tree.Resources[held.Addr.Resource].TriggersLast()
	})
}

func (p *planner) destroyOne(ctx context.Context, stored *state.Object) {
	addr := stored.Entry.Addr
	if addr.Resource.Mode == stackaddrs.DataResource {
		p.fresh.Remove(addr, stored.Entry.Deposed)
		return
	}
	t, ok := p.rt.StoredTarget(ctx, p.Tree.At(addr.Module), stored)
	if !ok {
		return
	}
	object, ok := p.rt.Upgrade(ctx, t, stored, p.storedIn(stored))
	switch left := (&leftOver{stored: stored}); {
	case !ok:
	case p.leaves(addr):
		p.forget(t, left, object)
	default:
		p.planDelete(ctx, t, left, object)
	}
}

// storedIn returns the resource that an object of the state now was stored as, or the zero value if
// that is the same.
func (p *planner) storedIn(stored *state.Object) stackaddrs.Resource {
	if p.SkipRefresh {
		return p.storedAs(stored.Entry.Addr)
	}
	return stackaddrs.Resource{} // converted when it was read
}

// warnUnmatched reports addresses of objects to replace that lack the keys of instances.
func (p *planner) warnUnmatched() {
	for _, address := range p.Replace {
		addr, err := stackaddrs.ParseResourceInstance(address)
		if err != nil || addr.Key != stackaddrs.NoKey {
			continue
		}
		var instances []string
		for _, c := range p.mu.changes {
			if c.Addr.Module == addr.Module && c.Addr.Resource == addr.Resource && c.Addr.Key != stackaddrs.NoKey && c.Deposed == "" {
				instances = append(instances, c.Addr.String())
			}
		}
		if len(instances) == 0 {
			continue
		}
		slices.Sort(instances)
		p.eval.Diagnostics.Add(failure.Warning("Replacement of no instance", "There is no single object %s to replace, but there are "+
			"instances:\n  - %s\n\nSay which of them are meant.", address, strings.Join(instances, "\n  - ")))
	}
}
