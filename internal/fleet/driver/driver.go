// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package driver plans and applies single units of a fleet: stacks of the Terraform Stacks
// language, and root modules.
//
// A [Driver] knows one unit and nothing of others. A [Stack] is operated on by package operation in
// this process, a [Root] by package rootmodule, which runs terraform or tofu.
//
// Rules:
//
//   - D1. Only the plan that was made last is applied.
//   - D2. Nothing is formatted here. The results of an operation go to a [View], the reports and
//     prints of terraform and tofu to a [RootView].
//   - D3. Different drivers work at the same time; one is used by one goroutine at a time. Nothing
//     depends on the working directory of this process.
package driver

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/approval"
	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/upstream"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Driver plans and applies one unit.
//
// Errors of all methods: [process.ErrStopped] if nothing was begun since everything is to stop;
// [*LostOutputError] if the work was done and nobody could see it; [*Failure] if an operation has
// failed; those of package process.
type Driver interface {
	// Plan makes a plan and keeps it in place of an earlier one. With errors there is none, unless its
	// output is lost.
	Plan(ctx context.Context, req PlanRequest) (Plan, error)

	// Show shows the plan once more.
	Show(ctx context.Context) error

	// Apply applies the plan.
	Apply(ctx context.Context, req ApplyRequest) (Applied, error)

	// Outputs returns those of the last apply, and false if there was none. Nothing is shown.
	Outputs(ctx context.Context) (outputs map[string]cty.Value, found bool, err error)
}

// PlanRequest says how to plan.
type PlanRequest struct {
	Destroy   bool
	Again     bool // plan deferred changes, after an apply: everything is prepared
	NotToKeep bool // it will not be applied

	// Saved takes the plan that is in the file, in place of making one. Only Inputs count then.
	Saved bool

	// Inputs returns values of variables, which the driver keeps for all that follows. It is called
	// once, while the work is shown. Nil for none, or for those of the plan before.
	Inputs func() ([]wiring.Value, hcl.Diagnostics)

	// Upstream is as in [operation.Request]; nil if no other unit is only planned.
	Upstream map[string]upstream.Published

	// CheckTaken checks that the values which deployment files have from other stacks now are those of
	// a saved plan. Nil where there is nothing to compare with.
	CheckTaken func(now []operation.Taken) hcl.Diagnostics
}

// Publisher is a driver of a unit that publishes some of its outputs, which each apply does.
// Publish does it for a unit without anything to apply. PublishedBy returns the published values of
// the whole stack with plans of its deployments, and false if there are none.
type Publisher interface {
	Publish(ctx context.Context) error
	PublishedBy(ctx context.Context, plans []operation.PlannedOutputs) (upstream.Published, bool)
}

// SavedChecker is the driver of a stack whose plan is in its file.
type SavedChecker interface {
	// CheckSaved finds out whether the plan still fits, before anything is done. Nothing is shown.
	CheckSaved(ctx context.Context) hcl.Diagnostics
}

// Fingerprinter is the driver of a root module.
type Fingerprinter interface {
	// Fingerprint identifies the sources of a plan of the module, as they are now. Nothing is shown.
	Fingerprint(ctx context.Context) (rootmodule.Fingerprint, error)
}

// Plan describes a plan, as far as it is known.
type Plan struct {
	Changes  bool   // it has some
	Complete bool   // nothing is left to a later plan of the same run
	Leaves   bool   // deferred changes are left to another run
	Destroys bool   // it destroys the unit
	State    string // which version of the state it was made of

	// Counts are the numbers of its changes; nil if they are not known.
	Counts *stackplan.Counts

	// Outputs are the outputs for other units if it is applied as planned. OutputsChange is set if
	// they differ from those before, as far as that is known.
	Outputs       wiring.Outputs
	OutputsChange bool

	// Taken are the published values of other stacks that it was made with, by references. Unknown:
	// values that are only planned there.
	Taken map[string]cty.Value

	// Details are the plan itself, of a root module as that of a stack with nothing but the module.
	// Nil if only its engine can read it.
	Details *stackplan.Plan
	// Judged is the judgement of the deployment's rules on it. Zero where there are none.
	Judged approval.Judgement
}

// ApplyRequest says how to apply.
type ApplyRequest struct {
	Destroy bool
	Outputs bool // whether outputs change is asked for
	Values  bool // outputs are asked for

	// ApprovedBy names for the history the person or the rule that approved the plan. Empty says
	// nothing.
	ApprovedBy string
}

// Applied is the result of an apply.
type Applied struct {
	// OutputsChanged is set if they have, or may have.
	OutputsChanged bool

	// Outputs are the outputs for other units, if they were asked for.
	Outputs map[string]cty.Value
}

// LostOutputError says that the result of the work could not be shown.
type LostOutputError struct{ Err error }

func (e *LostOutputError) Error() string { return e.Err.Error() }
func (e *LostOutputError) Unwrap() error { return e.Err }

// Failure says that work on a unit has ended with errors, which were shown. Made where they are
// known as data.
type Failure struct {
	Diagnostics hcl.Diagnostics // of the whole work; a program may have failed without any

	// End is how the program ended that has done the work. Nil for an operation, which counts as its
	// command would have ended.
	End *process.ExitError
}

// First returns the first error, nil if none is known.
func (e *Failure) First() *hcl.Diagnostic {
	for _, diag := range e.Diagnostics {
		if diag.Severity == hcl.DiagError {
			return diag
		}
	}
	return nil
}

// Error says how the work ended, with the first error and its place.
func (e *Failure) Error() string {
	text := e.Unwrap().Error()
	first := e.First()
	if first == nil {
		return text
	}
	text += ": " + strings.Join(strings.Fields(first.Summary), " ") // engines make several lines of some
	if at := first.Subject; at != nil && at.Filename != "" {
		text += " at " + at.Filename
		if at.Start.Line > 0 {
			text += fmt.Sprintf(":%d", at.Start.Line)
		}
	}
	return text
}

func (e *Failure) Unwrap() error {
	if e.End != nil {
		return e.End
	}
	return &process.ExitError{Code: 1}
}

// withLost adds that the output is lost to how work has ended.
func withLost(end, lost error) error {
	if lost != nil && end == nil {
		return &LostOutputError{lost}
	}
	return end
}
