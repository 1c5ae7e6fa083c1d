// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	"github.com/cairnstacks/cairn/internal/telemetry"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// planWatch sends the progress of component instances while a plan is made.
type planWatch struct {
	*planner
	ctx   context.Context //nolint:containedctx // of one operation, whose hooks have none
	types *resourceTypes
	made  engine.Info

	mu         sync.Mutex
	expanded   expanded
	components map[stackaddrs.AbsComponentInstance]*watchedPlan
}

// watchedPlan is a component instance while it is planned. It is used by one goroutine at a time.
type watchedPlan struct {
	plan     *stackplan.Component // set when it is planned
	diags    hcl.Diagnostics
	planning map[string]string // providers of the resource instances that were announced
	failed   map[string]bool   // resource instances of which errors were announced
}

func newPlanWatch(ctx context.Context, p *planner, session engine.Session) *planWatch {
	return &planWatch{
		planner: p, ctx: ctx, types: &resourceTypes{session: session}, made: session.Info(),
		expanded: expanded{}, components: map[stackaddrs.AbsComponentInstance]*watchedPlan{},
	}
}

func (w *planWatch) hooks() hooks.Hooks {
	return hooks.Hooks{
		ComponentWork:        telemetry.Work,
		ComponentExpanded:    w.expand,
		ComponentStatus:      w.status,
		ComponentEvent:       w.event,
		ComponentDiagnostics: func(addr stackaddrs.AbsComponentInstance, diags hcl.Diagnostics) { w.of(addr).diags = diags },
		ComponentPlanned:     func(plan *stackplan.Component) { w.of(plan.Addr).plan = plan },
	}
}

func (w *planWatch) of(addr stackaddrs.AbsComponentInstance) *watchedPlan {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.components[addr] == nil {
		w.components[addr] = &watchedPlan{planning: map[string]string{}, failed: map[string]bool{}}
	}
	return w.components[addr]
}

func (w *planWatch) expand(component stackaddrs.AbsComponent, instances []stackaddrs.AbsComponentInstance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expanded.announce(component, instances, w.progress)
}

// status sends a status, after the messages that have to come before it.
func (w *planWatch) status(addr stackaddrs.AbsComponentInstance, status hooks.Status) {
	watched := w.of(addr)
	switch status {
	case hooks.Pending:
		w.expand(stackaddrs.ComponentOf(addr), []stackaddrs.AbsComponentInstance{addr})
	case hooks.Planned, hooks.Deferred:
		w.sendPlanned(addr, watched)
	case hooks.Failed:
		w.sendErrors(addr, watched)
		w.progress(countsProgress(addr, stackplan.Counts{}))
	}
	w.progress(statusProgress(addr, status))
	if plan := watched.plan; plan != nil && (status == hooks.Planned || status == hooks.Deferred) {
		w.sendComponent(w.ctx, plan, w.made, w.types)
	}
}

// event announces a resource instance that the engine looks at, or cannot. Without its provider, it
// is announced when the plan is there: clients take the provider from the first message.
func (w *planWatch) event(addr stackaddrs.AbsComponentInstance, event engine.Event) {
	if event.Provider == (stackaddrs.Provider{}) {
		return
	}
	watched, object, provider := w.of(addr), wire.ResourceObject(addr, event.Resource, ""), event.Provider.String()
	switch event.Type {
	case engine.RefreshStart:
		w.announce(watched, object, provider)
	case engine.Unplannable:
		w.fail(watched, object, provider)
	}
}

// announce says that a resource instance is planned, once. It returns the provider that was named
// first.
func (w *planWatch) announce(watched *watchedPlan, object *stackspb.ResourceInstanceObjectInStackAddr, provider string) string {
	name := object.GetResourceInstanceAddr() + object.GetDeposedKey()
	first, announced := watched.planning[name]
	if announced {
		return first
	}
	watched.planning[name] = provider
	w.progress(resourceProgress(object, provider, resourcePlanning))
	return provider
}

// fail says that a resource instance could not be planned, once.
func (w *planWatch) fail(watched *watchedPlan, object *stackspb.ResourceInstanceObjectInStackAddr, provider string) {
	if name := object.GetResourceInstanceAddr(); !watched.failed[name] {
		watched.failed[name] = true
		w.progress(resourceProgress(object, w.announce(watched, object, provider), resourceErrored))
	}
}

// sendPlanned sends the planned changes of resources, in short.
func (w *planWatch) sendPlanned(addr stackaddrs.AbsComponentInstance, watched *watchedPlan) {
	if watched.plan == nil {
		return
	}
	for _, change := range watched.plan.Changes {
		w.sendResource(addr, watched, change)
	}
	for _, change := range watched.plan.Deferred {
		w.sendResource(addr, watched, change.Change)
	}
	for _, change := range watched.plan.Changes {
		w.progress(plannedProgress(addr, change))
	}
	for _, change := range watched.plan.Deferred {
		w.progress(deferredProgress(addr, change))
	}
	for _, i := range watched.plan.Invocations {
		w.progress(invocationProgress(addr, i))
	}
	w.progress(countsProgress(addr, watched.plan.Counts()))
}

func (w *planWatch) sendResource(addr stackaddrs.AbsComponentInstance, watched *watchedPlan, change *engine.Change) {
	object, provider := wire.ResourceObject(addr, change.Address(), change.Deposed), wire.ProviderAddress(change.Provider)
	w.announce(watched, object, provider)
	w.progress(resourceProgress(object, provider, resourcePlanned))
}

// sendErrors says of which resource instances the engine has reported errors.
func (w *planWatch) sendErrors(addr stackaddrs.AbsComponentInstance, watched *watchedPlan) {
	for _, diag := range watched.diags {
		data, ok := hcl.DiagnosticExtra[*engine.DiagnosticData](diag)
		if diag.Severity != hcl.DiagError || !ok || data.Resource == "" {
			continue
		}
		w.fail(watched, wire.ResourceObject(addr, data.Resource, ""), "")
	}
}
