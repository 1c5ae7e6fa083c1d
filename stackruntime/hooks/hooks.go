// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package hooks lets a caller of the stacks runtime watch an operation.
package hooks

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Status is where a component instance is in an operation.
type Status string

// The statuses of component instances.
const (
	Pending     Status = "pending"
	Planning    Status = "planning"
	Planned     Status = "planned"
	Deferred    Status = "deferred"
	Applying    Status = "applying"
	Applied     Status = "applied"
	Skipped     Status = "skipped"
	Interrupted Status = "interrupted" // while applying, and not everything was done
	Failed      Status = "failed"
)

// WorkKind is a kind of work of the engine on a component instance.
type WorkKind string

// The kinds of work.
const (
	WorkPlan    WorkKind = "plan"
	WorkRefresh WorkKind = "refresh" // a plan to learn the results before something is destroyed
	WorkRest    WorkKind = "rest"    // a plan of the rest of one that was applied in part
	WorkApply   WorkKind = "apply"
	WorkAgain   WorkKind = "again" // a plan to evaluate results that nothing stores
	WorkQuery   WorkKind = "query"

	// WorkRestReplaced is a plan of the rest, with replacements that nothing but a request leads to.
	WorkRestReplaced WorkKind = "rest-replaced"
)

// Work follows one piece of work of the engine. Each function may be nil.
type Work struct {
	// Began is called when the engine begins it, perhaps after having waited for other work to end. It
	// is not called if it never does.
	Began func()

	// Ended is called with its diagnostics when it has ended, or will not begin any more.
	Ended func(hcl.Diagnostics)
}

// WorkFunc is the type of [Hooks.ComponentWork].
type WorkFunc func(ctx context.Context, component stackaddrs.AbsComponentInstance, kind WorkKind) (context.Context, Work)

// Within returns a function that has outer follow the work, too, and gets the context of that.
// Outer may be nil.
func (f WorkFunc) Within(outer WorkFunc) WorkFunc {
	if outer == nil {
		return f
	}
	return func(ctx context.Context, component stackaddrs.AbsComponentInstance, kind WorkKind) (context.Context, Work) {
		ctx, around := outer(ctx, component, kind)
		ctx, inner := f(ctx, component, kind)
		return ctx, Work{
			Began: func() {
				around.began()
				inner.began()
			},
			Ended: func(diags hcl.Diagnostics) {
				inner.ended(diags)
				around.ended(diags)
			},
		}
	}
}

func (w Work) began() {
	if w.Began != nil {
		w.Began()
	}
}

func (w Work) ended(diags hcl.Diagnostics) {
	if w.Ended != nil {
		w.Ended(diags)
	}
}

// Hooks are functions to call while an operation runs. Each may be nil. Calls
// for one component instance do not overlap; calls for different ones may.
type Hooks struct {
	// ComponentWork is called with each piece of work on an instance before the engine gets it, and
	// returns the context for that. It may be nil where nothing of the work is of interest.
	ComponentWork WorkFunc

	// ComponentExpanded reports the instances of a component, sorted by key.
	ComponentExpanded func(component stackaddrs.AbsComponent, instances []stackaddrs.AbsComponentInstance)

	// ComponentStatus reports that an instance has got to the next status.
	ComponentStatus func(component stackaddrs.AbsComponentInstance, status Status)

	// ComponentEvent passes on progress from the engine.
	ComponentEvent func(component stackaddrs.AbsComponentInstance, event engine.Event)

	// ComponentDiagnostics reports the diagnostics of the engine about an instance, before its final
	// status. Those that concern the operation are among the diagnostics of that, too.
	ComponentDiagnostics func(component stackaddrs.AbsComponentInstance, diags hcl.Diagnostics)

	// ComponentPlanned reports the plan of an instance, before its final status.
	ComponentPlanned func(plan *stackplan.Component)

	// ComponentChecks reports the results of checks and conditions as they are after
	// the engine has applied an instance, completely or not. Those of a plan are
	// part of it.
	ComponentChecks func(component stackaddrs.AbsComponentInstance, checks []engine.CheckResult)

	// ComponentApplied reports the counts of applied changes, before the final status.
	ComponentApplied func(component stackaddrs.AbsComponentInstance, counts stackplan.Counts)
}
