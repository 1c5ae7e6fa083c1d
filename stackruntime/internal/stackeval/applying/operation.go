// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package applying applies the plans of component instances: in an order (docs/language.md, section
// 4.11), from where an earlier apply of the same plan has ended, saving each result as soon as it
// is known.
//
// [Operation] has the changes of all of them. It knows no configuration: an object of that drives
// each change, a [Subject].
package applying

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/promising/changeexec"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/work"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Result is the result of applying the plan of one component instance.
type Result struct {
	Outputs   map[string]cty.Value // nil when there are none
	Ephemeral map[string]cty.Value // outputs that are, if the engine has applied something; nobody stores them
	Module    engine.State
	Complete  bool // everything planned was done
	Skipped   bool // nothing was tried, because of another component
	Deferred  bool // nothing was planned that could be done
	Counts    stackplan.Counts

	Interrupted bool // it is not complete, and was being applied when the operation was interrupted

	Diags hcl.Diagnostics

	work  engine.WorkID // to acknowledge; empty for none
	stage stackplan.Stage
}

type (
	// Results are the results of all component instances of a plan.
	Results = changeexec.Results[stackaddrs.AbsComponentInstance, *Result]

	// Change is the change of one of them.
	Change = changeexec.Change[stackaddrs.AbsComponentInstance, *Result]
)

// Operation has the settings and results that the changes of all component instances of a plan
// share.
type Operation struct {
	Session engine.Session
	Works   *work.Operation
	Hooks   hooks.Hooks

	Plan     *stackplan.Plan
	Prior    *stackstate.State  // the state to begin with
	Progress stackplan.Progress // of earlier applies of the plan, which have left Prior behind

	// Save hands a change of the state to the caller that keeps it.
	Save func(context.Context, StateChange) hcl.Diagnostics

	// Subject finds the object that the configuration produces for a plan. It is nil if there is none,
	// or if it is not known which.
	Subject func(context.Context, *stackplan.Component) (Subject, hcl.Diagnostics)

	order   *order
	results *Results
}

// Subject is an object of the configuration that drives the change of a component instance.
type Subject interface {
	// Arguments are the arguments to apply with. It returns false if one of them could not be
	// computed, which is reported elsewhere.
	Arguments(ctx context.Context) (Arguments, bool)

	// StoredInputs are inputs as plan and state may keep them.
	StoredInputs(ctx context.Context, inputs map[string]cty.Value) map[string]cty.Value

	// RecordInputs are the values to keep in the state: none where one could not be computed.
	RecordInputs(ctx context.Context) map[string]cty.Value

	// EngineDiagnostics places diagnostics of an engine about the instance.
	EngineDiagnostics(ctx context.Context, diags hcl.Diagnostics) hcl.Diagnostics
}

// Arguments are the module, the values and the providers that a component instance is applied with.
type Arguments struct {
	ModuleDir string
	Inputs    map[string]cty.Value
	Providers map[engine.ProviderSlot]engine.ProviderConfig
}

// Begin adds the changes of all component instances of the plan. Their results are those that they
// wait for.
func (o Operation) Begin(results *Results, add func(Change)) {
	o.order, o.results = newOrder(o.Plan, o.Prior), results
	for _, plan := range o.Plan.Components {
		add(Change{Addr: plan.Addr, Run: (&applier{op: &o, plan: plan}).run})
	}
}
