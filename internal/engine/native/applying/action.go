// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
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

// invocations returns the actions that the step invokes. Those of a replacement are divided among
// its two steps.
func (s *step) invocations() []*planned.Invocation {
	if s.kind != changeStep && s.kind != destroyStep || len(s.change.Invocations) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.change.Invocations), func(i *planned.Invocation) bool {
		return i.Trigger.Event.Ends() != (s.kind == destroyStep)
	})
}

// invokeBefore invokes the actions that come before a change. They see the object as it is planned
// now, or the one that ends.
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
// nothing of the rest of them is invoked, but the object is as good as before, or tainted if the
// trigger says so.
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
// one fails, unless its trigger says that they go on. Nothing keeps a run that destroys everything
// from doing so.
func (a *applier) invoke(
	ctx context.Context, s *step, t *resource.Target, before bool, object func(context.Context, stackaddrs.InstanceKey) (cty.Value, bool),
) bool {
	caller := &eval.Caller{Resource: t.Resource, Object: object}
	all := s.invocations()
	for n, i := range all {
		if i.Trigger.Event.Before() != before {
			continue
		}
		wanted, ok := a.wanted(ctx, t, i, caller)
		switch {
		case ok && (!wanted || a.invokeOne(ctx, s, t, i, caller)):
			continue
		case s.halted:
			s.left = all[n:]
		case i.Trigger.OnFailure == engine.TaintOnFailure && i.Trigger.Event == engine.AfterCreate:
			a.taint(ctx, t)
		}
		return false
	}
	return true
}

// taint notes that the object of a target is to be replaced.
func (a *applier) taint(ctx context.Context, t *resource.Target) {
	object, ok := a.rt.Stored(ctx, t, a.now.Object(t.Addr, ""))
	if ok {
		object.Tainted = true
		a.store(t, object, "")
	}
}

// wanted reports whether an action is to be invoked whose condition was not known while planning.
func (a *applier) wanted(ctx context.Context, t *resource.Target, i *planned.Invocation, caller *eval.Caller) (wanted, ok bool) {
	if !i.Conditional {
		return true, true
	}
	at := t.At
	at.Caller = caller
	if at.Self, ok = caller.Object(ctx, t.Addr.Key); !ok {
		return false, false
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
	declared := a.declaredAction(t.Resource.Module, i)
	if declared == nil {
		return false
	}
	var config *resource.ActionConfig
	if i.Trigger.Event.Ends() { // objects that the configuration depends on may be gone
		config, caller = resource.FixedActionConfig(i.Config), nil
	}
	action, ok := a.rt.Action(ctx, declared, i.Addr.Key, t, caller)
	if !ok {
		return false
	}
	if config == nil {
		if config, ok = a.finalConfig(ctx, action, i); !ok {
			return false
		}
	}
	action.Lenient = i.Trigger.OnFailure == engine.ContinueOnFailure || a.Mode == engine.Destroy
	asked, ok := a.rt.Invoke(ctx, action, config, i.Trigger)
	s.halted = !asked
	return ok || asked && action.Lenient
}

// declaredAction returns the action of an invocation, or nil after an error. The module is nil if
// it is not declared.
func (a *applier) declaredAction(m *eval.Module, i *planned.Invocation) *eval.Action {
	if m != nil {
		if declared := m.Action(i.Addr.Type, i.Addr.Name); declared != nil {
			return declared
		}
	}
	a.eval.Diagnostics.AddTo(i.Trigger.Caller(), failure.New("Planned action not declared",
		"The plan invokes %s, which the configuration does not declare. Plan again.", i.Addr))
	return nil
}

// finalConfig evaluates the configuration of an action, which must be as planned.
func (a *applier) finalConfig(ctx context.Context, action *resource.Target, i *planned.Invocation) (*resource.ActionConfig, bool) {
	config, ok := a.rt.ActionConfig(ctx, action)
	return config, ok && a.rt.RefinesAction(action, i.Config, config)
}

// mayInvoke is called before an action is invoked. It is false if that must not begin.
func (a *applier) mayInvoke(p provider.Provider) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.asked[p] = true
	return !a.mu.stopped
}
