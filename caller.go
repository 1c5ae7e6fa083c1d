// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairn

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/approval"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Caller has the functions by which an operation shows progress and has decisions made. Functions
// that are nil are not called, but for Approve. They are called by one goroutine at a time, except
// for the hooks.
type Caller struct {
	// During shows a phase, "plan", "apply" or "destroy", while work is done, which it calls once
	// with hooks that see it.
	During func(phase string, work func(hooks.Hooks))

	// Report shows diagnostics at once that must not be lost if this program is killed; without it,
	// they are returned with the others. After an error the operation ends, and the next one reports
	// them.
	Report func(hcl.Diagnostics) error

	// Planned shows a plan. With errors it holds the part that could be planned. The diagnostics are
	// about it, and are still to be reported.
	Planned func(plan *stackplan.Plan, diags hcl.Diagnostics) error

	// Judged shows the judgement of the rules for a deployment on a plan that was shown.
	Judged func(judgement Judgement) error

	// Approve decides whether a plan that changes something, and that no rule has approved, is
	// applied; nil refuses. An error gives the reason for a refusal, and ends the operation. Warnings
	// are part of the plan to approve. They are returned at the end, too, whether they were shown or
	// not.
	Approve func(ctx context.Context, plan *stackplan.Plan, warnings hcl.Diagnostics) error

	// Approver says for the history how Approve decides, such as "answer".
	Approver string

	// Applying is called before a plan is applied, NextRound before another plan is made of the
	// deferred changes.
	Applying, NextRound func()

	// Unchanged shows that there was nothing to apply: the plan changes nothing, or all of it was
	// applied before. Applied shows the changes.
	Unchanged func(state *stackstate.State, before bool) error
	Applied   func(applied Applied) error

	// Value asks for the value of a variable that must have one.
	Value func(ctx context.Context, declared *stackconfig.InputVariable) (cty.Value, hcl.Diagnostics)

	// Rescue decides about a state that could be written nowhere, because of the cause. It may print
	// the document, and returns the next attempt to make. An error means that there is nobody to
	// decide.
	Rescue func(ctx context.Context, cause error, document []byte) (Rescue, error)
}

// Judgement is the result of the rules for a deployment on a plan.
type Judgement struct {
	Rules    []string  // that approve the plan; none if it is not approved
	Refusals []Refusal // of rules that do not; none where there are no rules
}

// Refusal is the reason why a rule does not approve a plan.
type Refusal struct {
	Rule   string
	Reason string // that its author gave; empty if it could not be evaluated
	Err    hcl.Diagnostics
	Range  hcl.Range
}

// Applied is the outcome of a plan.
type Applied struct {
	Plan    *stackplan.Plan
	Result  *stackruntime.ApplyResult
	Failed  bool // not all of it was done
	Unsaved bool // changes are not in the state
	InDoubt bool // the outcome is not known for some objects, which errors name

	Interrupted bool
}

// Rescue is the decision on a state that could not be written.
type Rescue struct {
	Printed bool   // nothing more: the document was printed
	Retry   bool   // try again to save it
	Dir     string // write it there; empty tries the usual places again
}

func (c Caller) operation() operation.Caller {
	caller := operation.Caller{
		During: c.During, Report: c.Report, Planned: c.Planned,
		Approve: c.Approve, Approver: c.Approver, Applying: c.Applying, NextRound: c.NextRound,
		Unchanged: c.Unchanged, Value: c.Value,
	}
	if c.Judged != nil {
		caller.Judged = func(judgement approval.Judgement) error { return c.Judged(newJudgement(judgement)) }
	}
	if c.Applied != nil {
		caller.Applied = func(applied operation.Applied) error { return c.Applied(Applied(applied)) }
	}
	if c.Rescue != nil {
		caller.Rescue = func(ctx context.Context, cause error, document []byte) (operation.Rescue, error) {
			rescue, err := c.Rescue(ctx, cause, document)
			return operation.Rescue(rescue), err
		}
	}
	return caller
}

func newJudgement(judgement approval.Judgement) Judgement {
	converted := Judgement{Rules: judgement.Rules}
	for _, refusal := range judgement.Refusals {
		converted.Refusals = append(converted.Refusals, Refusal(refusal))
	}
	return converted
}
