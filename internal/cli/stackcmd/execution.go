// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/statechange"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Execution is a plan or an apply as a command carries it out and shows it.
type Execution struct {
	*session.Session
	flags   *PlanFlags
	View    *Display
	Running *progressTracker

	autoApprove bool
	shown       hcl.Diagnostics // warnings that were part of a question
}

// NewExecution returns the execution of an operation of that name.
func NewExecution(s *session.Session, name string, flags *PlanFlags) *Execution {
	view := NewDisplay(s, name)
	view.concise = flags.concise
	return &Execution{Session: s, flags: flags, View: view, Running: newProgressTracker()}
}

// request is the request that the options describe.
func (o *Execution) request() (operation.Request, error) {
	req := operation.Request{
		Variables:      o.flags.arguments,
		Scope:          operation.Scope{SkipRefresh: !o.flags.refresh},
		Parallelism:    int(o.flags.parallelism),
		Rounds:         int(o.flags.maxRounds),
		AcceptRecovery: o.flags.acceptRecovery,
		Version:        session.Version(),
	}
	var err error
	if req.Mode, err = o.flags.mode(); err != nil {
		return req, err
	}
	if req.Replace, err = o.flags.replacements(); err != nil {
		return req, err
	}
	if req.Mode == engine.Invoke {
		req.Requested, err = o.flags.requested()
		return req, err
	}
	if req.Targets, err = o.flags.components("-target", o.flags.target); err != nil {
		return req, err
	}
	req.Excludes, err = o.flags.components("-exclude", o.flags.exclude)
	return req, err
}

// Caller shows the progress, and asks where there is someone to ask.
func (o *Execution) Caller() operation.Caller {
	caller := operation.Caller{
		During: func(phase string, work func(hooks.Hooks)) {
			o.View.during(phase, func(watch hooks.Hooks) { work(o.Running.track(watch)) })
		},
		Report:    o.Report,
		Planned:   o.View.Plan,
		Judged:    o.View.judged,
		Approve:   o.approve,
		Approver:  operation.ByAnswer,
		Applying:  o.View.paragraph,
		NextRound: o.View.NextRound,
		Unchanged: func(state *stackstate.State, _ bool) error { return failure.AsError(o.View.nothingDone(state)) },
		Applied:   func(applied operation.Applied) error { return failure.AsError(o.View.applied(applied)) },
		Rescue:    o.rescue,
	}
	if o.autoApprove {
		caller.Approve, caller.Approver = operation.ApproveAll, operation.ByOption
	}
	if o.flags.input && !o.Options.JSON && o.InputIsTerminal() {
		caller.Value = o.AskValue
	}
	return caller
}

// finish shows the diagnostics of the whole command and returns its exit code. Recovery has been
// reported to its end then.
func (o *Execution) finish(diags hcl.Diagnostics) (int, error) {
	diags = slices.DeleteFunc(slices.Clone(diags), func(diag *hcl.Diagnostic) bool { return slices.Contains(o.shown, diag) })
	status, err := o.Session.Finish(diags)
	if endErr := o.Stack().Acknowledge(err == nil); endErr != nil {
		o.Fail(endErr)
		return cmdline.ExitError, err
	}
	return exitCode(status, diags), err
}

// approve asks whether a plan is to be applied.
func (o *Execution) approve(ctx context.Context, plan *stackplan.Plan, warnings hcl.Diagnostics) error {
	if o.asksNobody() {
		return errNobody()
	}
	o.shown = slices.Concat(o.shown, warnings)
	if err := o.Report(warnings); err != nil {
		return err
	}
	o.Say("%s", approvalQuestion(plan.Mode))
	answer, err := o.Ask(ctx, "  Enter a value: ", false)
	switch {
	case operation.WasInterrupted(ctx):
		return failure.Error("Operation interrupted", "The question was not answered.")
	case err != nil:
		return hcl.Diagnostics{failure.With(statechange.CodeNotApproved, failure.New("Approval needed",
			"The plan was not approved: %s. Answer \"yes\", or give -auto-approve.", err))}
	case strings.TrimSpace(answer) != "yes":
		return failure.Error("Approval refused", "The plan was not approved.")
	}
	return nil
}

// asksNobody reports whether options say that there is nobody to ask.
func (o *Execution) asksNobody() bool { return o.Options.JSON || !o.flags.input }

func approvalQuestion(mode engine.Mode) string {
	if mode == engine.Destroy {
		return "\nDo you really want to destroy everything that is shown above?\n" +
			"  There is no undo. Only \"yes\" will be accepted to confirm.\n\n"
	}
	return "\nDo you want to perform these actions?\n" +
		"  They will be carried out as described above. Only \"yes\" will be accepted to approve.\n\n"
}

// rescue lets a person decide the fate of a state that could be written nowhere.
//
// The printed state holds sensitive values, which are printed nowhere else. It is for a person
// alone: never where standard error is not a terminal, since logs are kept and read by many;
// packed, so that nobody reads it in passing; and, where someone can be asked, only if they want
// it. They stand before the choice between a secret on their own screen and resources that nobody
// knows of any more.
func (o *Execution) rescue(ctx context.Context, cause error, document []byte) (operation.Rescue, error) {
	if !session.IsTerminal(o.Streams.Err) || o.Options.JSON {
		return operation.Rescue{}, cause
	}
	if !o.flags.input || !o.InputIsTerminal() {
		return operation.Rescue{Printed: true}, o.printPacked(document)
	}
	o.Note("\nThe state could not be saved, and no file could be written: %s.\n\n"+
		"  Free some space and press Enter to try again, or enter a directory on another disk.\n"+
		"  \"print\" prints the state here, packed. It holds all values, also sensitive ones.\n\n", failure.Reason(cause))
	answer, err := o.Ask(ctx, "  Enter a value: ", false)
	if err != nil {
		return operation.Rescue{}, errors.Join(cause, err)
	}
	switch answer = strings.TrimSpace(answer); answer {
	case "print":
		return operation.Rescue{Printed: true}, o.printPacked(document)
	case "":
		return operation.Rescue{Retry: true}, nil
	}
	return operation.Rescue{Dir: answer}, nil
}

// printPacked writes a packed state to standard error.
func (o *Execution) printPacked(document []byte) error {
	packed, err := deployment.Pack(document)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.Streams.Err, "\n%s\n", packed)
	return err
}
