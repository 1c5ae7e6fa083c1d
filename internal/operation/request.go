// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/approval"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/statechange"
	"github.com/cairnstacks/cairn/internal/operation/upstream"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Request holds the options of a plan, or of a plan and its apply. The zero value is an ordinary
// plan without values of variables.
type Request struct {
	Scope
	Approval
	Variables   []variables.Argument
	Parallelism int // number of components that are worked on at the same time; 0 leaves it to the settings file

	// Rounds is how often an apply plans while changes are deferred; 0 stands for [DefaultRounds].
	Rounds int

	// Beside plans without the lock of the state, from its contents at that moment, and writes nothing
	// to it: applies that were cut off are left to be recovered.
	Beside bool

	// AcceptRecovery goes on although an apply that was cut off may have made changes that the state
	// does not show, if an earlier operation has reported them.
	AcceptRecovery bool

	// Given are inputs that [Stack.CheckGiven] has evaluated just before; nil for none. They are
	// good for one plan.
	Given *Given

	// Upstream has the values that stacks publish by plans that are not applied yet, by the absolute
	// directories of these. They count in place of the published ones.
	Upstream map[string]upstream.Published

	// Together are the deployments of the stack that the caller works on one after the other, or at
	// the same time. That something waits for them is not worth a warning.
	Together map[string]bool

	// Generate names a new file for resource blocks that are made for objects to import; empty makes
	// none. A plan with such blocks can only be looked at.
	Generate string

	// Version is that of the program, for plan files.
	Version string
}

// Scope says what is planned of a stack, as in [stackruntime.PlanRequest].
type Scope struct {
	Mode              engine.Mode
	SkipRefresh       bool
	Replace           map[stackaddrs.AbsComponentInstance][]string
	Targets, Excludes []stackaddrs.AbsComponentInstance
	Requested         map[stackaddrs.AbsComponentInstance]engine.Requested
}

// Approval says how a plan is approved without the caller.
type Approval struct {
	// Replans is how many plans were made, and applied, before this one, which belongs to them: rules
	// for approval see it.
	Replans int

	// ApproveLater saves a plan that no rule approves, in place of asking for approval.
	ApproveLater bool

	// ApprovedBy names for the history the person or the rule that approved a saved plan. Empty stands
	// for [BySavedPlan].
	ApprovedBy string
}

// DefaultRounds is enough for changes that are deferred for a good reason, and ends those that are
// deferred forever.
const DefaultRounds = 10

// Caller is the caller's side of an operation: it sees the work, and makes the decisions that only
// a person or a policy can make. Functions that are nil are not called, except for Approve. They
// are called by one goroutine at a time, except for the hooks.
type Caller struct {
	// During shows a phase, "plan", "apply" or "destroy", while work is done, which it calls once with
	// hooks that see it.
	During func(phase string, work func(hooks.Hooks))

	// Report shows diagnostics at once that must not be lost if this program is killed; without it,
	// they are returned with the others. After an error the operation ends, and the next one reports
	// them.
	Report func(hcl.Diagnostics) error

	// Planned shows a plan. With errors it is incomplete. The diagnostics are about it, and are still
	// to be reported.
	Planned func(plan *stackplan.Plan, diags hcl.Diagnostics) error

	// Judged shows the judgement of a deployment's rules on a plan that was shown.
	Judged func(judgement approval.Judgement) error

	// Approve decides whether a plan that changes something, and that no rule has approved, is
	// applied; nil refuses. An error gives the reason for a refusal, and ends the operation, which
	// adds the work done until then. Warnings are part of the approval. They are returned at the end,
	// too, whether they were shown or not.
	Approve func(ctx context.Context, plan *stackplan.Plan, warnings hcl.Diagnostics) error

	// Approver says for the history how Approve decides, such as [ByAnswer].
	Approver string

	// Applying is called before a plan is applied, NextRound before another plan is made of deferred
	// changes.
	Applying, NextRound func()

	// Unchanged shows that there was nothing to apply: the plan changes nothing, or all of it was
	// applied before. Applied shows the changes.
	Unchanged func(state *stackstate.State, before bool) error
	Applied   func(applied Applied) error

	// Value asks for the value of a variable that must have one.
	Value func(ctx context.Context, declared *stackconfig.InputVariable) (cty.Value, hcl.Diagnostics)

	// Rescue decides about a state that could be written nowhere, because of the cause. It may print
	// the document, and returns the next attempt. An error means that there is nobody to decide.
	Rescue func(ctx context.Context, cause error, document []byte) (Rescue, error)
}

// Applied is the outcome of applying a plan.
type Applied struct {
	Plan    *stackplan.Plan
	Result  *stackruntime.ApplyResult
	Failed  bool // not all of it was done
	Unsaved bool // changes are not in the state
	InDoubt bool // the outcome for some objects is unknown, which errors name

	Interrupted bool
}

// Rescue is the next attempt at saving a state that could not be written.
type Rescue struct {
	Printed bool   // nothing more: the document was printed
	Retry   bool   // try again to save it
	Dir     string // write it there; empty tries the usual places again
}

// ErrInterrupted is the cause with which a caller ends the context of an operation that is to stop.
// Running work is waited for, and saved.
var ErrInterrupted = errors.New("interrupted")

// WasInterrupted reports whether the caller has ended an operation.
func WasInterrupted(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrInterrupted) }

func (c Caller) during(phase string, work func(hooks.Hooks)) {
	if c.During == nil {
		work(hooks.Hooks{})
		return
	}
	c.During(phase, work)
}

func (c Caller) planned(plan *stackplan.Plan, diags hcl.Diagnostics) error {
	if c.Planned == nil {
		return nil
	}
	return c.Planned(plan, diags)
}

func (c Caller) approve(ctx context.Context, plan *stackplan.Plan, warnings hcl.Diagnostics) error {
	if c.Approve == nil {
		return hcl.Diagnostics{failure.With(statechange.CodeNotApproved,
			failure.New("Approval needed", "There is nobody to approve the plan."))}
	}
	err := c.Approve(ctx, plan, warnings)
	var diags hcl.Diagnostics
	switch {
	case err == nil:
		return nil
	case errors.As(err, &diags) && diags.HasErrors():
		return diags
	}
	return failure.Error("Approval refused", "%s.", failure.Capitalize(failure.Reason(err)))
}

// ApproveAll approves every plan.
func ApproveAll(context.Context, *stackplan.Plan, hcl.Diagnostics) error { return nil }
