// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// change creates or updates an object, or checks the conditions of one that stays as it is.
func (a *applier) change(ctx context.Context, s *step) bool {
	c := s.change
	r := a.resource(ctx, c.Addr)
	if r == nil {
		return a.notDeclared(c.Addr)
	}
	if c.Action == engine.ActionNoOp {
		return a.check(ctx, s, r)
	}
	t, ok := a.rt.Target(ctx, r, c.Addr.Key)
	if !ok || !r.Preconditions(ctx, t.At) {
		return false
	}
	prior := a.prior(c)
	next, ok := a.rt.Plan(ctx, t, resource.PlanOptions{Prior: prior, PlannedPrivate: c.Private, Applying: true})
	if !ok {
		s.halted = a.isStopped()
		return false
	}
	if !a.rt.Refines(t, c.Action, c.After, next) || !a.rt.Settled(t, next) {
		return false
	}
	if next.Action != engine.ActionNoOp && !a.invokeBefore(ctx, s, t, next.After) {
		return false
	}
	switch {
	case next.Action == engine.ActionNoOp:
		s.value = next.After
	case onlyMarks(prior, next):
		prior.Value, prior.Dependencies = next.After, a.rt.Dependencies(t)
		s.value = next.After
		if !a.store(t, prior, "") {
			return false
		}
	case !a.apply(ctx, s, t, next, prior):
		return false
	}
	if next.Action != engine.ActionNoOp {
		s.changed = t
	}
	return t.Postconditions(ctx, s.value)
}

// resource returns the block that declares an instance, or nil.
func (a *applier) resource(ctx context.Context, addr stackaddrs.ResourceInstance) *eval.Resource {
	m := a.eval.Module(ctx, addr.Module)
	if m == nil {
		return nil
	}
	return m.Resource(addr.Resource)
}

func (a *applier) notDeclared(addr stackaddrs.ResourceInstance) bool {
	return a.eval.Diagnostics.AddTo(addr.String(), failure.New("Planned resource not declared",
		"The plan changes %s, which the configuration does not declare now that all values are known. Plan again.", addr))
}

// check checks the conditions of an instance whose object stays as it is.
func (a *applier) check(ctx context.Context, s *step, r *eval.Resource) bool {
	s.value = s.change.After
	if len(r.Config.Preconditions)+len(r.Config.Postconditions) == 0 {
		return true
	}
	at, ok := r.Place(ctx, s.change.Addr.Key)
	if !ok || !r.Preconditions(ctx, at) {
		return false
	}
	at.Self = s.value
	return r.Postconditions(ctx, at)
}

// prior returns the object that a change begins with: nil for one that is created, for the first
// time or in the place of another one.
func (a *applier) prior(c *planned.Change) *resource.Object {
	if c.Action != engine.ActionUpdate {
		return nil
	}
	return a.object(c, a.now.Object(c.Addr, ""))
}

// object returns the object of a change as it is before, without decoding its stored form.
func (a *applier) object(c *planned.Change, stored *state.Object) *resource.Object {
	o := &resource.Object{Value: c.Before, Private: c.BeforePrivate, Identity: c.BeforeIdentity, CreateBeforeDestroy: c.CreateBeforeDestroy}
	if stored == nil {
		return o
	}
	if content, err := stored.Content(); err == nil {
		o.Tainted, o.CreateBeforeDestroy, o.Dependencies = content.Tainted, content.CreateBeforeDestroy, content.Dependencies
	}
	return o
}

// onlyMarks reports whether a change is of sensitivity alone, which is no concern of the provider.
func onlyMarks(prior *resource.Object, next *resource.Change) bool {
	if prior == nil {
		return false
	}
	before, _ := prior.Value.UnmarkDeep()
	after, _ := next.After.UnmarkDeep()
	return before.RawEquals(after)
}

// apply lets the provider make the change, and keeps the resulting object.
func (a *applier) apply(ctx context.Context, s *step, t *resource.Target, next *resource.Change, prior *resource.Object) bool {
	if s.old != nil && !a.depose(s) {
		return false
	}
	result := a.rt.Apply(ctx, t, next, prior)
	ok := result.OK
	switch {
	case !result.Asked:
		s.halted = a.isStopped()
	case result.Doubt:
	case result.Object == nil:
		a.unchanged(t.Addr, "")
	default:
		ok = a.store(t, result.Object, "") && ok
		s.value = result.Object.Value
	}
	if ok && prior == nil {
		ok = a.created(ctx, t, result.Object)
	}
	result.End(ok)
	if !ok && s.old != nil {
		a.restore(s)
	}
	return ok
}

// depose sets the present object aside, for the step that destroys it after its successor is made.
func (a *applier) depose(s *step) bool {
	addr := s.change.Addr
	deposed := a.now.Depose(addr)
	if deposed == nil {
		return true
	}
	s.old.deposed = deposed.Entry.Deposed
	return a.pass(addr, s.old.deposed, &deposed.Entry) && a.pass(addr, "", nil)
}

// restore undoes depose if there is nothing in the place of the object.
func (a *applier) restore(s *step) {
	addr := s.change.Addr
	if current := a.now.Restore(addr, s.old.deposed); current != nil {
		a.pass(addr, "", &current.Entry)
		a.pass(addr, s.old.deposed, nil)
	}
}
