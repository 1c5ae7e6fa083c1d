// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package hooks lets a caller of the stacks runtime watch an operation.
package hooks

import (
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

// Hooks are functions to call while an operation runs. Each may be nil. Calls
// for one component instance do not overlap; calls for different ones may.
type Hooks struct {
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
