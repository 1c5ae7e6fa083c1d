// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"
	"maps"
	"sync"

	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	"github.com/cairnstacks/cairn/internal/telemetry"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// applyWatch sends the progress of component instances while a plan is applied, and the changes of
// the state.
//
// The records of a component instance at its end are sent after its last status, since clients
// expect them there; earlier records, at once.
type applyWatch struct {
	*applier
	ctx       context.Context //nolint:containedctx // of one operation, whose hooks have none
	describer *stateDescriber
	instances map[stackaddrs.AbsComponent][]stackaddrs.AbsComponentInstance

	mu         sync.Mutex
	expanded   expanded
	components map[stackaddrs.AbsComponentInstance]*watchedApply
}

// watchedApply is a component instance while it is applied.
type watchedApply struct {
	plan    *stackplan.Component
	changes map[string]*engine.Change // by their addresses
	begun   map[string]int            // steps of each resource instance that have begun
	done    map[string]int
	pending bool // its first status was sent

	held []*stackspb.AppliedChange // until the last status
}

func newApplyWatch(ctx context.Context, a *applier, types *resourceTypes) *applyWatch {
	w := &applyWatch{
		applier:    a,
		ctx:        ctx,
		describer:  &stateDescriber{types: types, moved: movedResources(a.opened.plan)},
		instances:  instancesOf(a.opened.plan),
		expanded:   expanded{},
		components: map[stackaddrs.AbsComponentInstance]*watchedApply{},
	}
	for _, c := range a.opened.plan.Components {
		watched := &watchedApply{plan: c, changes: map[string]*engine.Change{}, begun: map[string]int{}, done: map[string]int{}}
		for _, change := range c.Changes {
			watched.changes[change.Address()] = change
		}
		w.components[c.Addr] = watched
	}
	return w
}

func (w *applyWatch) hooks() hooks.Hooks {
	return hooks.Hooks{ComponentWork: telemetry.Work, ComponentStatus: w.status, ComponentEvent: w.event, ComponentApplied: w.applied}
}

// status sends a status, after those that come before it. A skipped instance has no message: it was
// not begun.
func (w *applyWatch) status(addr stackaddrs.AbsComponentInstance, status hooks.Status) {
	watched := w.components[addr]
	if watched == nil || status == hooks.Pending {
		return
	}
	if status != hooks.Skipped {
		w.begin(addr, watched)
		if status == hooks.Failed || status == hooks.Interrupted {
			w.progress(countsProgress(addr, w.counted(watched)))
		}
		w.progress(statusProgress(addr, status))
	}
	if status != hooks.Applying {
		w.release(watched)
	}
}

// begin sends the messages that come before all other progress of a component instance.
func (w *applyWatch) begin(addr stackaddrs.AbsComponentInstance, watched *watchedApply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	component := stackaddrs.ComponentOf(addr)
	w.expanded.announce(component, w.instances[component], w.progress)
	if !watched.pending {
		watched.pending = true
		w.progress(statusProgress(addr, hooks.Pending))
		for _, i := range watched.plan.Invocations {
			w.progress(invocationStatusProgress(addr, i, invocationPending))
		}
	}
}

// event sends the status of a resource instance. A replacement has two steps, which are one change.
func (w *applyWatch) event(addr stackaddrs.AbsComponentInstance, event engine.Event) {
	watched := w.components[addr]
	if watched == nil {
		return
	}
	if event.Invocation != nil {
		if p := invocationEvent(addr, event); p != nil {
			w.progress(p)
		}
		return
	}
	change := watched.changes[event.Resource]
	if change == nil {
		change = &engine.Change{}
	}
	object, provider := wire.ResourceObject(addr, event.Resource, change.Deposed), wire.ProviderAddress(change.Provider)
	send := func(status resourceStatus) { w.progress(resourceProgress(object, provider, status)) }
	switch event.Type {
	case engine.ApplyStart:
		if watched.begun[event.Resource]++; watched.begun[event.Resource] == 1 {
			send(resourcePlanning)
			send(resourcePlanned)
			send(resourceApplying)
		}
	case engine.ApplyComplete:
		if watched.done[event.Resource]++; watched.done[event.Resource] == steps(change.Action) {
			send(resourceApplied)
		}
	case engine.ApplyErrored:
		send(resourceErrored)
	}
}

// steps returns how many steps an engine reports of an action. Forgetting is none.
func steps(action engine.Action) int {
	if action.Replaces() {
		return 2
	}
	return 1
}

// applied sends the counts of a component instance.
func (w *applyWatch) applied(addr stackaddrs.AbsComponentInstance, _ stackplan.Counts) {
	if watched := w.components[addr]; watched != nil {
		w.begin(addr, watched)
		w.progress(countsProgress(addr, countApplied(watched.plan, func(*engine.Change) bool { return true })))
	}
}

// counted counts the finished changes of an instance that has failed.
func (w *applyWatch) counted(watched *watchedApply) stackplan.Counts {
	return countApplied(watched.plan, func(c *engine.Change) bool { return watched.done[c.Address()] >= steps(c.Action) })
}

// countApplied counts changes that were done. Imports and moves count where nothing else was done
// to the object. Deferred changes are as planned.
func countApplied(plan *stackplan.Component, done func(*engine.Change) bool) stackplan.Counts {
	var n stackplan.Counts
	for _, change := range plan.Changes {
		if !done(change) {
			continue
		}
		one := stackplan.CountChange(change)
		if change.Action != engine.ActionNoOp {
			one.Import, one.Move = 0, 0
		}
		n = n.Plus(one)
	}
	n.Defer = plan.Counts().Defer
	return n
}

// save sends a change of the state. It implements [stackruntime.ApplyRequest.Save].
func (w *applyWatch) save(_ context.Context, change stackruntime.StateChange) error {
	messages, err := w.describer.describe(w.ctx, change)
	if err != nil {
		return err
	}
	watched := w.components[componentOf(change)]
	if watched != nil && !change.Interim {
		w.mu.Lock()
		watched.held = append(watched.held, messages...)
		w.mu.Unlock()
		return w.out.failed()
	}
	for _, message := range messages {
		w.change(message)
	}
	return w.out.failed()
}

func componentOf(change stackruntime.StateChange) stackaddrs.AbsComponentInstance {
	for _, c := range []*stackstate.Component{change.After, change.Before} {
		if c != nil {
			return c.Addr
		}
	}
	return stackaddrs.AbsComponentInstance{}
}

// release sends the messages that were held back.
func (w *applyWatch) release(watched *watchedApply) {
	w.mu.Lock()
	held := watched.held
	watched.held = nil
	w.mu.Unlock()
	for _, message := range held {
		w.change(message)
	}
}

// flush sends the messages that are held back of instances whose end nobody has reported.
func (w *applyWatch) flush() {
	for watched := range maps.Values(w.components) {
		w.release(watched)
	}
}
