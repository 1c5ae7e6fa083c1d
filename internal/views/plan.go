// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deferral"
	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/internal/views/valuediff"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// WritePlan writes a plan for a person. Diagnostics are not part of it.
func WritePlan(w io.Writer, plan *stackplan.Plan, options Options) error {
	return writePlan(w, planView{page: newPage(options), plan: plan})
}

func writePlan(w io.Writer, v planView) error {
	v.drift()
	v.legend()
	v.moved()
	v.components()
	v.removed()
	v.unchanged()
	v.deferred()
	v.failed()
	v.outputs()
	v.checks()
	v.byComponent()
	v.engines()
	v.neededValues()
	v.total()
	return v.writeTo(w)
}

type planView struct {
	*page
	plan   *stackplan.Plan
	module bool // of a root module: its only component has no name
}

func hasDrift(c *stackplan.Component) bool { return len(visibleDrift(c)) > 0 }

func visibleDrift(c *stackplan.Component) []*engine.Change {
	return sortedChanges(c.Drift, stackplan.IsDrift)
}

// visibleChanges leaves out objects that stay as and where they are.
func visibleChanges(c *stackplan.Component) []*engine.Change {
	return sortedChanges(c.Changes, stackplan.IsChange)
}

// sortedChanges returns those of the changes that are to be shown.
func sortedChanges(changes []*engine.Change, shown func(*engine.Change) bool) []*engine.Change {
	var sorted []*engine.Change
	for _, change := range changes {
		if shown(change) {
			sorted = append(sorted, change)
		}
	}
	engine.SortChanges(sorted)
	return sorted
}

func (v *planView) drift() {
	if !slices.ContainsFunc(v.plan.Components, hasDrift) {
		return
	}
	then := "The changes below take that into account, and may undo it."
	if v.plan.Mode.KeepsObjects() {
		then = "Applying this plan records it in the state."
	}
	of := "stack"
	if v.module {
		of = "module"
	}
	v.section("Note: Objects have changed outside of this " + of)
	v.paragraph("While planning, these resources were found to differ from the result of the last apply. " + then)
	for _, c := range v.plan.Components {
		drift := visibleDrift(c)
		if len(drift) == 0 {
			continue
		}
		v.componentHeader(c, "has changed")
		for _, change := range drift {
			resourceView{page: v.page, drift: true}.write(change)
		}
	}
	v.printf("%s\n\n", strings.Repeat("─", min(v.columns, defaultWidth)))
}

// legend explains the symbols that will be used.
func (v *planView) legend() {
	used := map[string]bool{}
	for _, c := range v.plan.Components {
		for _, change := range visibleChanges(c) {
			used[kindOf(change.Action).symbol] = true
		}
		for _, deferred := range c.Deferred {
			used[kindOf(deferred.Change.Action).symbol] = true
		}
	}
	delete(used, "")
	if len(used) == 0 {
		return
	}
	v.printf("Resource actions are indicated with the following symbols:\n")
	for _, kind := range changeKinds {
		if used[kind.symbol] {
			v.printf("%s%s %s\n", strings.Repeat(" ", 3-len(kind.symbol)), v.Symbol(kind.symbol), kind.meaning)
			delete(used, kind.symbol)
		}
	}
	v.printf("\n")
}

var componentVerbs = map[stackplan.Action]string{
	stackplan.Create: "will be created",
	stackplan.Update: "will be updated",
	stackplan.Delete: "will be destroyed",
	stackplan.Read:   "will be read during apply",
	stackplan.Forget: "will be forgotten",
	stackplan.NoOp:   "will not change",
}

func (v *planView) componentHeader(c *stackplan.Component, verb string) {
	if v.module {
		return
	}
	if c.Source == "" {
		v.header(v.Bold(c.Addr.String()), verb)
		return
	}
	v.header(v.Bold(c.Addr.String()), v.Dim("("+c.Source+")"), verb)
}

// changes reports whether a component has a place among the changes.
func changes(plan *stackplan.Plan, c *stackplan.Component) bool {
	if len(visibleChanges(c)) > 0 {
		return true
	}
	if plan.Mode.KeepsObjects() && hasDrift(c) && len(c.Invocations) == 0 {
		return false // all that there is to say about it was said
	}
	return c.Action != stackplan.NoOp && c.Complete && !deferral.IsDeferred(plan, c)
}

func (v *planView) components() {
	for _, c := range v.plan.Components {
		if !changes(v.plan, c) {
			continue
		}
		visible := visibleChanges(c)
		v.componentHeader(c, componentVerb(v.plan, c))
		for _, change := range visible {
			resourceView{page: v.page}.write(change)
			v.invocations(c.Invocations, change)
		}
		switch {
		case v.plan.Mode == engine.Invoke && len(c.Invocations) > 0:
			v.requested(c.Invocations)
		case len(visible) == 0:
			v.printf("  %s\n\n", v.Dim("# "+v.withoutChanges(c)))
		}
	}
}

// componentVerb names the planned change of a component.
func componentVerb(plan *stackplan.Plan, c *stackplan.Component) string {
	switch {
	case deferral.Failed(plan, c):
		return "could be planned only in part"
	case plan.Mode == engine.Invoke && len(c.Invocations) > 0:
		return "stays as it is"
	case plan.Mode.KeepsObjects():
		return "will be recorded as it is now"
	case c.Action == stackplan.NoOp:
		return "keeps its resources"
	case c.Action == stackplan.Delete && len(visibleChanges(c)) == 0:
		return "has nothing to destroy" // the state may not even have it
	}
	return componentVerbs[c.Action]
}

// withoutChanges returns the reason for listing a component though no resource changes.
func (v *planView) withoutChanges(c *stackplan.Component) string {
	switch {
	case v.plan.Mode.KeepsObjects():
		return "(no resource has changed, only outputs or records of it)"
	case c.Action == stackplan.Update:
		return "(no resource changes, only inputs, outputs or records of it)"
	case c.Action == stackplan.Delete, c.Action == stackplan.Forget:
		return "(it has no resources)"
	}
	return "(no resources)"
}

func (v *planView) removed() {
	if len(v.plan.Removed) == 0 {
		return
	}
	names := make([]string, len(v.plan.Removed))
	for i, addr := range v.plan.Removed {
		names[i] = addr.String()
	}
	slices.Sort(names)
	v.paragraph("No longer in the configuration and without resources, so that only their records are dropped: " +
		listed(names) + ".")
}

// unchangedComponent reports whether there is nothing to say about a component.
func (v *planView) unchangedComponent(c *stackplan.Component) bool {
	drifted := v.plan.Mode.KeepsObjects() && hasDrift(c)
	return c.Complete && !drifted && !changes(v.plan, c) && !deferral.IsDeferred(v.plan, c)
}

func (v *planView) unchanged() {
	var names []string
	for _, c := range v.plan.Components {
		if v.unchangedComponent(c) {
			names = append(names, c.Addr.String())
		}
	}
	if len(names) == 0 || len(names) == len(v.plan.Components) || v.concise {
		return
	}
	v.paragraph("Unchanged: " + listed(names) + ".")
}

// maxListed bounds the names of components about which there is nothing else to say.
const maxListed = 20

func listed(names []string) string {
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
}

func (v *planView) deferred() {
	isDeferred := func(c *stackplan.Component) bool { return deferral.IsDeferred(v.plan, c) }
	if !slices.ContainsFunc(v.plan.Components, isDeferred) {
		return
	}
	v.section("Deferred")
	v.paragraph("These cannot be planned yet. Apply this plan, then plan again.")
	for _, c := range v.plan.Components {
		if !isDeferred(c) {
			continue
		}
		verb := "is deferred"
		if len(visibleChanges(c)) > 0 {
			verb = "is deferred in part"
		}
		v.componentHeader(c, verb+": "+deferral.ComponentText(v.plan, c))
		sorted := slices.Clone(c.Deferred)
		engine.SortDeferred(sorted)
		for _, deferred := range sorted {
			resourceView{page: v.page, deferredReason: deferral.ResourceText(c, deferred)}.write(deferred.Change)
			v.deferredInvocations(c.DeferredInvocations, deferred.Change)
		}
	}
}

func (v *planView) failed() {
	var names []string
	for _, c := range v.plan.Components {
		if deferral.Failed(v.plan, c) {
			names = append(names, c.Addr.String())
		}
	}
	if len(names) > 0 {
		v.paragraph(v.Red(v.Bold("Could not be planned")) + ": " + strings.Join(names, ", ") + ".")
	}
}

func (v *planView) outputs() {
	var names []string
	width := 0
	for _, name := range slices.Sorted(maps.Keys(v.plan.Outputs)) {
		if v.plan.Outputs[name].Action != stackplan.NoOp {
			names = append(names, name)
			width = max(width, len(name))
		}
	}
	if len(names) == 0 {
		return
	}
	v.printf("%s\n", v.Bold("Changes to Outputs:"))
	for _, name := range names {
		v.WriteString(valuediff.Named(name, width, outputChange(v.plan.Outputs[name]), valuediff.Options{
			Style: v.Style, Indent: 2, Concise: v.concise,
		}))
	}
	v.printf("\n")
}

func outputChange(output *stackplan.OutputChange) valuediff.Change {
	change := valuediff.Change{Before: valuediff.FromCty(output.Before), After: valuediff.FromCty(output.After)}
	switch output.Action {
	case stackplan.Create:
		change.Before = nil
	case stackplan.Delete:
		change.After = nil
	}
	if change.After != nil {
		change.Before = change.Before.Known() // an apply did not get to the rest
	}
	if change.After == nil && output.Action != stackplan.Delete {
		change.After = valuediff.FromCty(cty.NullVal(cty.DynamicPseudoType))
	}
	return change
}

// engines names the components that were left to another engine than usual, or done as tofu or an
// older terraform does them, with the reasons.
func (v *planView) engines() {
	var reasons []string // in the order of the components
	names := map[string][]string{}
	first := map[string]*stackplan.Component{}
	for _, c := range v.plan.Components {
		if code := c.Reason.Code; !code.IsFallback() && code != engine.ReasonOlder && code != engine.ReasonTofu {
			continue
		}
		reason := c.Engine.Name + " " + c.Engine.Version + c.Reason.String()
		if first[reason] == nil {
			reasons = append(reasons, reason)
			first[reason] = c
		}
		names[reason] = append(names[reason], c.Addr.String())
	}
	for _, reason := range reasons {
		c := first[reason]
		v.paragraph(fmt.Sprintf("Planned by %s %s: %s. %s", c.Engine.Name, c.Engine.Version, listed(names[reason]), c.Reason))
	}
}

// neededValues names the variables that were not known while planning.
func (v *planView) neededValues() {
	if names := v.plan.UnknownInputs(); len(names) > 0 {
		needed := " To apply this plan, the values are needed."
		if v.plan.LeavesUnknown() {
			needed = " Everything is destroyed without."
		}
		v.paragraph(v.Bold("Not known yet") + ": var." + strings.Join(names, ", var.") + "." + needed)
	}
}

func (v *planView) total() {
	plan := v.plan
	switch {
	case plan.IsEmpty():
		v.paragraph(v.Bold(v.Green("No changes.")) + " " + noChanges(plan))
	case plan.Mode == engine.RefreshOnly:
		v.paragraph("This is a refresh-only plan: applying it updates the state and changes no infrastructure.")
	case plan.Mode == engine.Invoke:
		v.paragraph(v.Bold("Plan: ") + count(plan.Counts().Invoke, "action") +
			" to invoke. Besides that, applying this plan changes no infrastructure.")
	case onlyAddresses(plan):
		v.paragraph("Only addresses of components change. Applying this plan records them in the state and changes no infrastructure.")
	case plan.Applyable && plan.Counts().Total() == 0 && changedComponents(plan) == 0 && plan.Complete &&
		len(plan.Removed) == 0:
		v.paragraph("Only outputs change. Applying this plan saves their new values and changes no infrastructure.")
	default:
		v.page.total(v.Bold("Plan: ") + v.planCounts())
	}
	if !plan.Applyable {
		v.paragraph(v.Red(v.Bold("Planning failed.")) +
			" The errors make this plan incomplete. It cannot be applied.")
	}
}

func noChanges(plan *stackplan.Plan) string {
	switch plan.Mode {
	case engine.Destroy:
		return "There is nothing to destroy."
	case engine.RefreshOnly:
		return "The state matches your infrastructure."
	case engine.Invoke:
		return "There is no action to invoke."
	}
	return "Your infrastructure matches the configuration."
}

// planCounts is the text of the total line, without its first word. It counts the components that
// the table has; those of which only outputs or records change count where no resource does.
func (v *planView) planCounts() string {
	plan := v.plan
	if v.module {
		return eventtext.PlanCounts(plan.Counts()) + "." + eventtext.Invocations(plan.Counts())
	}
	components := len(plannedRows(plan))
	if components == 0 {
		components = changedComponents(plan)
	}
	return eventtext.PlanCounts(plan.Counts()) + " in " + count(components, "component") + "." + eventtext.Invocations(plan.Counts()) +
		movedCount(plan)
}

// changedComponents is the number of components of which something changes or is deferred.
func changedComponents(plan *stackplan.Plan) int {
	n := 0
	for _, c := range plan.Components {
		if changes(plan, c) || c.Counts().Total() > 0 {
			n++
		}
	}
	return n
}
