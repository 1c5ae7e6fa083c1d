// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
)

// destroy destroys an object, if it is still there.
func (a *applier) destroy(ctx context.Context, s *step) bool {
	c := s.change
	stored := a.now.Object(c.Addr, s.deposed)
	if stored == nil {
		return true
	}
	t, ok := a.rt.StoredTarget(ctx, a.Tree.At(c.Addr.Module), stored)
	if !ok {
		return false
	}
	object, private := a.object(c, stored), c.Private
	if s.deposed != "" {
		again, ok := a.rt.PlanDestroy(ctx, t, object)
		if !ok {
			s.halted = a.isStopped()
			return false
		}
		private = again.Private
	}
	caller, ok := a.lastCaller(ctx, s, t)
	if !ok || caller != nil && !a.invokeBefore(ctx, s, caller, object.Value) {
		return false
	}
	result := a.rt.Destroy(ctx, t, resource.Destruction{
		Object: object, Deposed: s.deposed, Private: private, Before: func() bool { return a.ending(ctx, t, object, s.deposed) },
	})
	ok = false
	switch {
	case !result.Asked:
		s.halted = a.isStopped()
	case result.OK:
		ok = a.remove(c.Addr, s.deposed)
		s.changed, s.value = caller, object.Value
	case !result.Doubt:
		a.store(t, result.Object, s.deposed)
	}
	result.End(ok)
	return ok
}

// lastCaller returns the target of an object that ends as the caller of the actions that this
// triggers; nil if there are none.
func (a *applier) lastCaller(ctx context.Context, s *step, t *resource.Target) (*resource.Target, bool) {
	if len(s.invocations()) == 0 {
		return nil, true
	}
	caller := *t
	if caller.Resource = a.resource(ctx, t.Addr); caller.Resource == nil {
		return nil, a.notDeclared(t.Addr)
	}
	caller.At = eval.Place{Resource: t.Address, Repetition: eval.RepetitionOf(t.Addr.Key)}
	return &caller, true
}

// read reads a data source (section 6.5).
func (a *applier) read(ctx context.Context, s *step) bool {
	r := a.resource(ctx, s.change.Addr)
	if r == nil {
		return a.notDeclared(s.change.Addr)
	}
	t, ok := a.rt.Target(ctx, r, s.change.Addr.Key)
	if !ok || !r.Preconditions(ctx, t.At) {
		return false
	}
	config, ok := a.rt.DataConfig(ctx, t)
	if !ok || !a.rt.Readable(t, config) {
		return false
	}
	value, _, ok := a.rt.ReadData(ctx, t, config)
	switch {
	case !ok && a.isStopped():
		s.halted = true
		return false
	case !ok && t.Config().Check != nil: // which fails then, and nothing else
		r.FailCheck(t.Failure)
		s.value = cty.UnknownVal(t.Type.Object)
		return true
	case !ok:
		return false
	}
	if !a.store(t, &resource.Object{Value: value}, "") {
		return false
	}
	s.value = value
	return t.Postconditions(ctx, value)
}
