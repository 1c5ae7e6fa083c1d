// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package eventtext puts events of an operation into words.
package eventtext

import (
	"fmt"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

var statuses = map[hooks.Status]string{
	hooks.Pending:     "Waiting",
	hooks.Planning:    "Planning...",
	hooks.Planned:     "Planned",
	hooks.Deferred:    "Deferred",
	hooks.Applying:    "Applying...",
	hooks.Applied:     "Applied",
	hooks.Skipped:     "Skipped",
	hooks.Interrupted: "Interrupted",
	hooks.Failed:      "Failed",
}

// Status puts the status of a component into words.
func Status(status hooks.Status) string {
	if text, ok := statuses[status]; ok {
		return text
	}
	return string(status)
}

// actionWords are the words for one action: when it begins, goes on, is done, and failed.
type actionWords struct{ doing, still, done, failed string }

var actions = map[string]actionWords{
	"create":  {"Creating", "Still creating", "Creation complete", "Creation failed"},
	"update":  {"Modifying", "Still modifying", "Modifications complete", "Modification failed"},
	"delete":  {"Destroying", "Still destroying", "Destruction complete", "Destruction failed"},
	"replace": {"Replacing", "Still replacing", "Replacement complete", "Replacement failed"},
	"read":    {"Reading", "Still reading", "Read complete", "Read failed"},
	"import":  {"Importing", "Still importing", "Import complete", "Import failed"},
	"move":    {"Moving", "Still moving", "Move complete", "Move failed"},
	"open":    {"Opening", "Still opening", "Opening complete", "Opening failed"},
	"renew":   {"Renewing", "Still renewing", "Renewal complete", "Renewal failed"},
	"close":   {"Closing", "Still closing", "Closing complete", "Closing failed"},
}

func wordsFor(action string) actionWords {
	if words, ok := actions[action]; ok {
		return words
	}
	return actionWords{"Working", "Still working", "Complete", "Failed"}
}

// Message puts an event of the engine into the words that terraform users know.
// The engine's own message comes first, if it has one.
func Message(event engine.Event) string {
	if event.Invocation != nil {
		return safetext.Clean(invocation(event))
	}
	if event.Message != "" {
		return safetext.Clean(event.Message)
	}
	text := safetext.Clean(describe(event))
	if event.Resource == "" {
		return text
	}
	return safetext.Clean(event.Resource) + ": " + text
}

func describe(event engine.Event) string {
	words := wordsFor(event.Action)
	elapsed := Duration(event.Elapsed)
	switch event.Type {
	case engine.Unplannable:
		return "Cannot be planned without its provider"
	case engine.PlannedChange:
		return "Plan to " + event.Action
	case engine.ResourceDrift:
		return "Drift detected (" + event.Action + ")"
	case engine.RefreshStart:
		return "Refreshing state..." + identity(event)
	case engine.RefreshComplete:
		return "Refresh complete" + identity(event)
	case engine.ApplyStart, engine.EphemeralStart:
		return words.doing + "..." + identity(event)
	case engine.ApplyProgress:
		return words.still + "... [" + progress(event) + "]"
	case engine.ApplyComplete, engine.EphemeralComplete:
		return words.done + " after " + elapsed + identity(event)
	case engine.ApplyErrored:
		return words.failed + " after " + elapsed
	case engine.ProvisionStart:
		return "Provisioning..."
	case engine.ProvisionProgress:
		return "(provisioner)"
	case engine.ProvisionComplete:
		return "Provisioning complete"
	case engine.ProvisionErrored:
		return "Provisioning failed"
	}
	return string(event.Type)
}

// invocation describes an event about an action.
func invocation(event engine.Event) string {
	action := event.Invocation.Addr.String()
	switch caller := event.Invocation.Trigger.Caller(); {
	case !event.Invocation.Trigger.IsRequest():
		action += " (triggered by " + event.Resource + ")"
	case caller != "":
		action += " (for " + caller + ")"
	}
	switch event.Type {
	case engine.PlannedInvocation:
		return "Plan to invoke " + action
	case engine.ActionStart:
		return "Action started: " + action
	case engine.ActionProgress:
		return "Action " + action + ": " + event.Message
	case engine.ActionComplete:
		return "Action complete: " + action
	default:
		return "Action failed: " + action
	}
}

// identity is the value by which a provider knows a resource, in brackets.
func identity(event engine.Event) string {
	if event.IDKey == "" || event.IDValue == "" {
		return ""
	}
	return " [" + event.IDKey + "=" + event.IDValue + "]"
}

func progress(event engine.Event) string {
	text := Duration(event.Elapsed) + " elapsed"
	if event.IDKey == "" || event.IDValue == "" {
		return text
	}
	return event.IDKey + "=" + event.IDValue + ", " + text
}

// Duration writes a time as terraform does, in whole seconds: "5s", "1m5s".
func Duration(d time.Duration) string {
	return d.Round(time.Second).String()
}

// Summary is the total line of an operation: "plan", "apply" or "destroy".
func Summary(operation string, n stackplan.Counts) string {
	switch operation {
	case "plan":
		return "Plan: " + PlanCounts(n) + "." + Invocations(n)
	case "destroy":
		return "Destroy complete! Resources: " + AppliedCounts("destroy", n) + "." + Invoked(n)
	}
	return "Apply complete! Resources: " + AppliedCounts(operation, n) + "." + Invoked(n)
}

// IncompleteSummary is the total line of an apply or a destroy that did not do all of it.
func IncompleteSummary(operation string, interrupted bool, n stackplan.Counts) string {
	verb, how := "Apply", "incomplete"
	if operation == "destroy" {
		verb = "Destroy"
	}
	if interrupted {
		how = "interrupted"
	}
	return verb + " " + how + ". Resources: " + AppliedCounts(operation, n) + "." + Invoked(n)
}

// AlreadyApplied says that all of a saved plan was done before.
const AlreadyApplied = "All of this plan was applied before. Nothing was done."

// Resuming says that an apply goes on with a plan of which a part was done: the numbers of the
// component instances that the plan changes, of those that are done, and of those that were begun.
func Resuming(done, begun, total int) string {
	text := fmt.Sprintf("This plan was applied in part before: %d of %d components that it changes are done", done, total)
	if begun > 0 {
		text += fmt.Sprintf(", and %d more begun", begun)
	}
	return text + ". Going on from there."
}

// Invocations shows the number of actions to invoke, or nothing if there are none. It follows a
// sentence.
func Invocations(n stackplan.Counts) string {
	if n.Invoke == 0 {
		return ""
	}
	return fmt.Sprintf(" Actions: %d to invoke.", n.Invoke)
}

// Invoked shows the numbers of actions that were invoked, or nothing if none were. It follows a
// sentence.
func Invoked(n stackplan.Counts) string {
	if n.Invoke+n.InvokeFailed == 0 {
		return ""
	}
	return " Actions: " + join([]part{{n.Invoke, "invoked", true}, {n.InvokeFailed, "failed", false}}) + "."
}

// PlanCounts are the numbers of a plan, the rarer ones only where they count.
func PlanCounts(n stackplan.Counts) string { return join(planParts(n)) }

func planParts(n stackplan.Counts) []part {
	return []part{
		{n.Import, "to import", false},
		{n.Add, "to add", true},
		{n.Change, "to change", true},
		{n.Remove, "to destroy", true},
		{n.Move, "to move", false},
		{n.Forget, "to forget", false},
		{n.Defer, "deferred", false},
	}
}

// AppliedCounts are the numbers of the changes made. A destroy operation adds and changes nothing,
// and says nothing of that.
func AppliedCounts(operation string, n stackplan.Counts) string {
	return join(appliedParts(n, operation != "destroy"))
}

func appliedParts(n stackplan.Counts, always bool) []part {
	return []part{
		{n.Import, "imported", false},
		{n.Add, "added", always},
		{n.Change, "changed", always},
		{n.Remove, "destroyed", true},
		{n.Move, "moved", false},
		{n.Forget, "forgotten", false},
		{n.Defer, "deferred", false},
	}
}

// BriefPlanCounts are the numbers of a plan that are not 0.
func BriefPlanCounts(n stackplan.Counts) string { return brief(planParts(n)) }

// BriefAppliedCounts are the numbers of the changes made that are not 0.
func BriefAppliedCounts(n stackplan.Counts) string { return brief(appliedParts(n, false)) }

func brief(parts []part) string {
	for i := range parts {
		parts[i].always = false
	}
	return join(parts)
}

type part struct {
	n      int
	text   string
	always bool
}

func join(parts []part) string {
	var texts []string
	for _, p := range parts {
		if p.n > 0 || p.always {
			texts = append(texts, fmt.Sprintf("%d %s", p.n, p.text))
		}
	}
	return strings.Join(texts, ", ")
}
