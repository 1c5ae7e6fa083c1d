// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// made carries out a step but for the actions that come after it. Those of other instances of the
// block wait for that only, so that they can see the object.
func (a *applier) made(ctx context.Context, s *step) bool {
	if len(s.invocations()) == 0 {
		return a.makeNow(ctx, s)
	}
	ok, err := s.making.Do(ctx, s.name()+" (change)", func(ctx context.Context) (bool, error) { return a.makeNow(ctx, s), nil })
	if err != nil {
		a.eval.Diagnostics.Failed(err, nil)
		return false
	}
	return ok
}

// invocations returns the actions that the step invokes.
func (s *step) invocations() []*planned.Invocation {
	if s.kind != changeStep {
		return nil
	}
	return s.change.Invocations
}

// invokeBefore invokes the actions that come before a change. They see the object as it is planned
// now.
func (a *applier) invokeBefore(ctx context.Context, s *step, t *resource.Target, value cty.Value) bool {
	return a.invoke(ctx, s, t, true, func(ctx context.Context, key stackaddrs.InstanceKey) (cty.Value, bool) {
		if key == t.Addr.Key {
			return value, true
		}
		if other := a.makers[t.Resource.Addr(key)]; other != nil {
			return other.change.After, true
		}
		return a.Object(ctx, t.Resource, key)
	})
}

// invokeAfter invokes the actions that come after a change. If one fails, so does the step, and
// nothing of the rest of them is invoked, but the object is as good as before.
func (a *applier) invokeAfter(ctx context.Context, s *step) bool {
	if s.changed == nil {
		return true
	}
	t := s.changed
	return a.invoke(ctx, s, t, false, func(ctx context.Context, key stackaddrs.InstanceKey) (cty.Value, bool) {
		if key == t.Addr.Key {
			return s.value, true
		}
		if other := a.makers[t.Resource.Addr(key)]; other != nil {
			ok := a.made(ctx, other)
			return other.value, ok
		}
		return a.Object(ctx, t.Resource, key)
	})
}

// invoke invokes the actions that come before a change, or those after it, one after another until
// one fails.
func (a *applier) invoke(
	ctx context.Context, s *step, t *resource.Target, before bool, object func(context.Context, stackaddrs.InstanceKey) (cty.Value, bool),
) bool {
	caller := &eval.Caller{Resource: t.Resource, Object: object}
	all := s.invocations()
	for n, i := range all {
		if i.Trigger.Event.Before() != before {
			continue
		}
		wanted, ok := a.wanted(ctx, s, t, i, caller)
		if !ok || wanted && !a.invokeOne(ctx, s, t, i, caller) {
			if s.halted {
				s.left = all[n:]
			}
			return false
		}
	}
	return true
}

// wanted reports whether an action is to be invoked whose condition was not known while planning.
func (a *applier) wanted(ctx context.Context, s *step, t *resource.Target, i *planned.Invocation, caller *eval.Caller) (wanted, ok bool) {
	if !i.Conditional {
		return true, true
	}
	at := t.At
	at.Caller = caller
	if !i.Trigger.Event.Before() {
		at.Self = s.value
	}
	trigger := t.Config().ActionTriggers[i.Trigger.Block]
	holds, known, ok := t.Resource.Triggers(ctx, trigger, at)
	if ok && !known {
		return false, a.eval.Diagnostics.AddTo(t.Address, failure.At(trigger.Condition.Range(), "Invalid action trigger condition",
			"Whether %s is to be invoked is still not known, although all that the condition depends on is done.", i.Addr))
	}
	return holds, ok
}

func (a *applier) invokeOne(ctx context.Context, s *step, t *resource.Target, i *planned.Invocation, caller *eval.Caller) bool {
	declared := t.Resource.Module.Action(i.Addr.Type, i.Addr.Name)
	if declared == nil {
		return a.eval.Diagnostics.AddTo(t.Address, failure.New("Planned action not declared",
			"The plan invokes %s, which the configuration does not declare. Plan again.", i.Addr))
	}
	action, ok := a.rt.Action(ctx, declared, i.Addr.Key, t, caller)
	if !ok {
		return false
	}
	config, ok := a.rt.ActionConfig(ctx, action)
	if !ok || !a.rt.RefinesAction(action, i.Config, config) {
		return false
	}
	asked, ok := a.rt.Invoke(ctx, action, config, i.Trigger)
	s.halted = !asked
	return ok
}

// mayInvoke is called before an action is invoked. It is false if that must not begin.
func (a *applier) mayInvoke(p provider.Provider) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.asked[p] = true
	return !a.mu.stopped
}
