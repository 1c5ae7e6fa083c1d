// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/deployments/approval"
	"github.com/cairnstacks/cairn/internal/deployments/deployeval"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/statechange"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// judged shows the verdict of a deployment's rules on its plan. Without rules it shows nothing.
func (v *Display) judged(judgement approval.Judgement) error {
	if len(judgement.Refusals) == 0 && (!judgement.Approved() || slices.Equal(judgement.Rules, []string{approval.EmptyPlan})) {
		return nil
	}
	if v.events != nil {
		v.events.Approval(judgementEvent(judgement))
		return v.events.Err()
	}
	if judgement.Approved() {
		v.session.Say("\nApproved by %s.\n", rulesText(judgement.Rules))
		return nil
	}
	var b strings.Builder
	b.WriteString("\nNot approved by these checks:\n")
	for _, refusal := range judgement.Refusals {
		fmt.Fprintf(&b, "  - %s: %s\n", refusal.Rule, safetext.Name(refusalText(refusal)))
	}
	v.session.Print("%s", b.String())
	return nil
}

func rulesText(names []string) string {
	if len(names) == 1 {
		return "the rule " + names[0]
	}
	return "the rules " + strings.Join(names, ", ")
}

// refusalText says in one line why a check does not approve.
func refusalText(refusal deployeval.Refusal) string {
	var parts []string
	if refusal.Reason != "" {
		parts = append(parts, refusal.Reason)
	}
	if text := errorText(refusal.Err); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// errorText returns the reason and the place of a failed evaluation of a check; "" if there is
// none.
func errorText(diags hcl.Diagnostics) string {
	var texts []string
	for _, diag := range diags {
		text := diag.Summary + ": " + strings.Join(strings.Fields(diag.Detail), " ")
		if diag.Subject != nil {
			text += fmt.Sprintf(" (%s:%d)", diag.Subject.Filename, diag.Subject.Start.Line)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " ")
}

func judgementEvent(judgement approval.Judgement) jsonview.Approval {
	event := jsonview.Approval{Approved: judgement.Approved(), Rules: judgement.Rules}
	for _, refusal := range judgement.Refusals {
		event.Refusals = append(event.Refusals, jsonview.Refusal{Rule: refusal.Rule, Reason: refusal.Reason, Error: errorText(refusal.Err)})
	}
	return event
}

// errNobody is the error for a plan that is not applied as nobody can be asked.
func errNobody() error {
	return hcl.Diagnostics{failure.With(statechange.CodeNotApproved, failure.New("Approval needed",
		"Without someone to ask, give -auto-approve, -approve=later, or the file of a plan that was looked at before."))}
}

// exitCode is that of a command which has ended with diagnostics. A plan that was only not approved
// has not failed.
func exitCode(status int, diags hcl.Diagnostics) int {
	waits := false
	for _, diag := range diags {
		code := engine.FaultOf(diag)
		switch {
		case code == operation.CodeWaiting, code == statechange.CodeNotApproved:
			waits = true
		case diag.Severity == hcl.DiagError:
			return status
		}
	}
	if waits {
		return cmdline.ExitApproval
	}
	return status
}
