// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Explain prints diagnostics in full, a line each.
func Explain(diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%s: %s\n", summary(d), d.Detail)
	}
	return b.String()
}

// Summaries prints diagnostics a line each, sorted, as in "error main.tfcomponent.hcl:3: Invalid
// for_each".
func Summaries(diags hcl.Diagnostics) string {
	var lines []string
	for _, d := range diags {
		lines = append(lines, summary(d)+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func summary(d *hcl.Diagnostic) string {
	severity := "error"
	if d.Severity == hcl.DiagWarning {
		severity = "warning"
	}
	if d.Subject == nil {
		return fmt.Sprintf("%s -: %s", severity, d.Summary)
	}
	return fmt.Sprintf("%s %s:%d: %s", severity, d.Subject.Filename, d.Subject.Start.Line, d.Summary)
}

// PlanText prints the effects of a plan, without the values of components:
//
//	not applyable
//	incomplete
//	input NAME: create "value", required on apply, delete on apply
//	component.a: create, applyable, incomplete, deferred (REASON), destroy mode, refresh-only mode, requires component.b
//	  terraform_data.this: update, from terraform_data.old, imported, replace
//	  data.x.y: deferred (REASON), read
//	  action.x.y: after_create of terraform_data.this (BLOCK.POSITION)
//	  action.x.z: deferred (REASON), before_update of terraform_data.this (BLOCK.POSITION)
//	removed component.gone
//	output NAME: update (unknown)
//
// A line or part that does not apply is left out; applyable and complete plans begin with no such
// line. Of components in which nothing changes it is not said whether they are applyable: with an
// engine that counts outputs, those that have some are.
func PlanText(plan *stackplan.Plan) string {
	var b strings.Builder
	line := func(indent string, name string, parts ...string) {
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		fmt.Fprintf(&b, "%s%s: %s\n", indent, name, strings.Join(parts, ", "))
	}
	if !plan.Applyable {
		b.WriteString("not applyable\n")
	}
	if !plan.Complete {
		b.WriteString("incomplete\n")
	}
	for _, name := range sortedKeys(plan.Inputs) {
		in := plan.Inputs[name]
		line("", "input "+name, string(in.Action)+" "+ValueText(in.After), when(in.RequiredOnApply, "required on apply"),
			when(in.DeleteOnApply, "delete on apply"))
	}
	for _, c := range plan.Components {
		line("", c.Addr.String(), string(c.Action), when(c.Applyable && c.Action != stackplan.NoOp, "applyable"), when(!c.Complete, "incomplete"),
			when(c.DeferredReason != "", "deferred ("+c.DeferredReason+")"), when(c.Mode == engine.Destroy, "destroy mode"),
			when(c.Mode == engine.RefreshOnly, "refresh-only mode"), when(len(c.Requires) > 0, "requires "+join(c.Requires)))
		for _, change := range c.Changes {
			line("  ", change.Address(), changeParts(change)...)
		}
		for _, deferred := range c.Deferred {
			line("  ", deferred.Change.Address(), append([]string{"deferred (" + deferred.Reason + ")"}, changeParts(deferred.Change)...)...)
		}
		for _, i := range c.Invocations {
			line("  ", i.Addr.String(), triggerText(i.Trigger))
		}
		for _, d := range c.DeferredInvocations {
			line("  ", d.Invocation.Addr.String(), "deferred ("+d.Reason+")", triggerText(d.Invocation.Trigger))
		}
	}
	for _, removed := range plan.Removed {
		fmt.Fprintf(&b, "removed %s\n", removed)
	}
	for _, name := range sortedKeys(plan.Outputs) {
		out := plan.Outputs[name]
		line("", "output "+name, string(out.Action)+" "+ValueText(out.After))
	}
	return b.String()
}

func triggerText(t engine.Trigger) string {
	return fmt.Sprintf("%s of %s (%d.%d)", t.Event, t.Resource, t.Block, t.Position)
}

func changeParts(change *engine.Change) []string {
	return []string{
		string(change.Action),
		when(change.IsMove(), "from "+change.PreviousAddr.String()),
		when(change.Importing != nil, "imported"),
	}
}

// StateText prints the contents of a state:
//
//	input NAME = "value"
//	component.a, requires component.b, required by component.c
//	  terraform_data.this, tainted, deposed 00000001
//	  in NAME = "value"
//	  out NAME = (sensitive "value")
//	output NAME = "value"
func StateText(state *stackstate.State) string {
	var b strings.Builder
	values := func(prefix string, values map[string]cty.Value) {
		for _, name := range sortedKeys(values) {
			fmt.Fprintf(&b, "%s%s = %s\n", prefix, name, ValueText(values[name]))
		}
	}
	values("input ", state.Inputs)
	for _, c := range state.SortedComponents() {
		b.WriteString(c.Addr.String())
		if len(c.Dependencies) > 0 {
			b.WriteString(", requires " + join(c.Dependencies))
		}
		if len(c.Dependents) > 0 {
			b.WriteString(", required by " + join(c.Dependents))
		}
		b.WriteString("\n")
		objects, err := tfstate.ParseObjects(c.Module)
		if err != nil {
			fmt.Fprintf(&b, "  unreadable: %s\n", err)
		}
		for _, object := range objects {
			fmt.Fprintf(&b, "  %s%s%s\n", object.Addr, when(object.Tainted, ", tainted"),
				when(object.Deposed != "", ", deposed "+string(object.Deposed)))
		}
		values("  in ", c.Inputs)
		values("  out ", c.Outputs)
	}
	values("output ", state.Outputs)
	return b.String()
}

// ValuesText prints values by name, as in "NAME = VALUE", a line each.
func ValuesText(values map[string]cty.Value) string {
	var b strings.Builder
	for _, name := range sortedKeys(values) {
		fmt.Fprintf(&b, "%s = %s\n", name, ValueText(values[name]))
	}
	return b.String()
}

// ValueText prints a value like an expression: "text", 1, null, [1, 2], {a = 1}, (unknown),
// (sensitive VALUE), (ephemeral VALUE). Lists, sets and tuples look the same, and so do maps and
// objects.
func ValueText(value cty.Value) string {
	if value == cty.NilVal {
		return "(none)"
	}
	for _, mark := range []struct {
		mark any
		word string
	}{{marks.Ephemeral, "ephemeral"}, {marks.Sensitive, "sensitive"}} {
		if value.HasMark(mark.mark) {
			bare, all := value.Unmark()
			delete(all, mark.mark)
			return "(" + mark.word + " " + ValueText(bare.WithMarks(all)) + ")"
		}
	}
	value, _ = value.Unmark()
	ty := value.Type()
	switch {
	case !value.IsKnown():
		return "(unknown)"
	case value.IsNull():
		return "null"
	case ty.IsListType(), ty.IsSetType(), ty.IsTupleType():
		var items []string
		for _, item := range value.AsValueSlice() {
			items = append(items, ValueText(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case ty.IsMapType(), ty.IsObjectType():
		items := []string{}
		fields := value.AsValueMap()
		for _, name := range sortedKeys(fields) {
			items = append(items, name+" = "+ValueText(fields[name]))
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	text, err := ctyjson.Marshal(value, ty)
	if err != nil {
		return fmt.Sprintf("%#v", value)
	}
	return string(text)
}

func when(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

func join(addrs []stackaddrs.AbsComponent) string {
	var list []string
	for _, addr := range addrs {
		list = append(list, addr.String())
	}
	return strings.Join(list, " ")
}
