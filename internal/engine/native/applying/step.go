// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// begin begins all steps, each in a task of its own.
func (a *applier) begin(ctx context.Context) {
	resolvers := make([]promising.PromiseResolver[bool], len(a.steps))
	for i, s := range a.steps {
		resolvers[i], s.done = promising.NewPromise[bool](ctx, s.name())
	}
	for i, s := range a.steps {
		promising.AsyncTask(ctx, resolvers[i], func(ctx context.Context, resolver promising.PromiseResolver[bool]) {
			resolver.Resolve(ctx, a.do(ctx, s), nil)
		})
	}
}

// name names the step in messages about cycles.
func (s *step) name() string {
	switch s.kind {
	case joinStep:
		return "" // others of the cycle say enough
	case destroyStep:
		return s.change.Addr.String() + " (destroy)"
	default:
		return s.change.Addr.String()
	}
}

// await waits for all steps.
func (a *applier) await(ctx context.Context) {
	for _, s := range a.steps {
		a.succeeded(ctx, s)
	}
}

// succeeded waits for a step.
func (a *applier) succeeded(ctx context.Context, s *step) bool {
	ok, err := s.done.Await(ctx)
	if err != nil {
		a.eval.Diagnostics.Failed(err, nil)
		return false
	}
	return ok
}

// do carries out a step, with the actions that come after it.
func (a *applier) do(ctx context.Context, s *step) bool {
	return a.made(ctx, s) && a.invokeAfter(ctx, s)
}

// makeNow carries out a step, after those that it waits for. When one of these fails, it is left
// out (rule A3).
func (a *applier) makeNow(ctx context.Context, s *step) bool {
	for _, before := range s.after {
		if !a.succeeded(ctx, before.on) {
			s.halted = before.on.halted
			return false
		}
	}
	if s.kind == joinStep {
		return true
	}
	if a.isStopped() {
		s.halted = true
		return false
	}
	switch s.kind {
	case destroyStep:
		return a.destroy(ctx, s)
	case forgetStep:
		return a.remove(s.change.Addr, s.deposed)
	case readStep:
		return a.read(ctx, s)
	default:
		return a.change(ctx, s)
	}
}

// Object implements [eval.Objects].
func (a *applier) Object(ctx context.Context, r *eval.Resource, key stackaddrs.InstanceKey) (cty.Value, bool) {
	addr := r.Addr(key)
	if r.Config.Addr.Mode == stackaddrs.EphemeralResource {
		return a.ephemeral(ctx, r, key)
	}
	if s := a.makers[addr]; s != nil {
		ok := a.succeeded(ctx, s)
		return s.value, ok
	}
	if value, deferred := a.deferred(addr); deferred {
		return value, true
	}
	t, ok := a.rt.Target(ctx, r, key)
	if !ok {
		return cty.NilVal, false
	}
	stored := a.now.Object(addr, "")
	if stored == nil {
		return cty.UnknownVal(t.Type.Object), true
	}
	object, ok := a.rt.Stored(ctx, t, stored)
	if !ok {
		return cty.NilVal, false
	}
	return object.Value, true
}
