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
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Request says what is to be planned, or planned and applied. The zero value is an ordinary plan
// without values of variables.
type Request struct {
	Mode        engine.Mode
	Variables   []variables.Argument
	SkipRefresh bool
	Parallelism int // number of components that are worked on at the same time; 0 leaves it to the settings file

	// As in [stackruntime.PlanRequest].
	Replace           map[stackaddrs.AbsComponentInstance][]string
	Targets, Excludes []stackaddrs.AbsComponentInstance

	// Rounds is how often an apply plans while changes are deferred; 0 stands for [DefaultRounds].
	Rounds int

	// Beside plans without the lock of the state, from what it is at that moment, and writes nothing
	// to it: applies that were cut off are left to be recovered.
	Beside bool

	// Replans is how many plans were made, and applied, before this one, which belongs to them: rules
	// for approval see it.
	Replans int

	// ApproveLater saves a plan that no rule approves, in place of asking for approval.
	ApproveLater bool

	// ApprovedBy says for the history by whom, or by what, a saved plan was approved. Empty stands for
	// [BySavedPlan].
	ApprovedBy string

	// AcceptRecovery goes on although an apply that was cut off may have made changes that the state
	// does not show, if an earlier operation has reported them.
	AcceptRecovery bool

	// Together are the deployments of the stack that the caller works on one after the other, or at
	// the same time. That something waits for them is not worth a warning.
	Together map[string]bool

	// Version is that of the program, for plan files.
	Version string
}

// DefaultRounds is enough for what is deferred for a good reason, and ends what is deferred
// forever.
const DefaultRounds = 10

// Caller is who has an operation carried out: it sees what is done, and decides what only a person
// or a policy can. Functions that are nil are not called, but for Approve. They are called by one
// goroutine at a time, except for the hooks.
type Caller struct {
	// During shows a phase, "plan", "apply" or "destroy", while work is done, which it calls once with
	// hooks that see it.
	During func(phase string, work func(hooks.Hooks))

	// Report shows diagnostics at once that must not be lost if this program is killed; without it,
	// they are returned with the others. After an error the operation ends, and the next one reports
	// them.
	Report func(hcl.Diagnostics) error

	// Planned shows a plan. With errors it is of what could be planned. The diagnostics are about it,
	// and are still to be reported.
	Planned func(plan *stackplan.Plan, diags hcl.Diagnostics) error

	// Judged shows what the rules for a deployment say of a plan that was shown.
	Judged func(judgement approval.Judgement) error

	// Approve decides whether a plan that changes something, and that no rule has approved, is
	// applied; nil refuses. An error says why not, and ends the operation, which adds what was done
	// until then. Warnings are part of what is approved. They are returned at the end, too, whether
	// they were shown or not.
	Approve func(ctx context.Context, plan *stackplan.Plan, warnings hcl.Diagnostics) error

	// Approver says for the history how Approve decides, such as [ByAnswer].
	Approver string

	// Applying is called before a plan is applied, NextRound before another plan is made of what was
	// deferred.
	Applying, NextRound func()

	// Unchanged shows that there was nothing to apply: the plan changes nothing, or all of it was
	// applied before. Applied shows the changes.
	Unchanged func(state *stackstate.State, before bool) error
	Applied   func(applied Applied) error

	// Value asks for the value of a variable that must have one.
	Value func(ctx context.Context, declared *stackconfig.InputVariable) (cty.Value, hcl.Diagnostics)

	// Rescue decides what becomes of a state that could be written nowhere, because of the cause. It
	// may print the document, and returns what else is to be tried. An error means that there is
	// nobody to decide.
	Rescue func(ctx context.Context, cause error, document []byte) (Rescue, error)
}

// Applied is what became of a plan.
type Applied struct {
	Plan    *stackplan.Plan
	Result  *stackruntime.ApplyResult
	Failed  bool // not all of it was done
	Unsaved bool // what was done is not in the state
	InDoubt bool // it is not known what was made of some objects, which errors name

	Interrupted bool
}

// Rescue is what is to be done with a state that could not be written.
type Rescue struct {
	Printed bool   // nothing more: the document was printed
	Retry   bool   // try again to save it
	Dir     string // write it there; empty tries the usual places again
}

// ErrInterrupted is the cause with which a caller ends the context of an operation that is to stop.
// What runs is waited for, and saved.
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
		return hcl.Diagnostics{failure.WithCode(statechange.CodeNotApproved, failure.New("Approval needed", "There is nobody to approve the plan."))}
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
