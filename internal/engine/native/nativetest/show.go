// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package nativetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Show returns a plan as text, for comparing: changes, drift, deferred changes, outputs, whether it
// is complete and applyable, and diagnostics. A value that is not known yet is a question mark, and
// a sensitive one has an exclamation mark in front.
func (p *Plan) Show() string {
	var b strings.Builder
	for _, c := range p.Changes {
		showChange(&b, "", c)
	}
	for _, c := range p.Drift {
		showChange(&b, "outside: ", c)
	}
	for _, d := range p.Deferred {
		showChange(&b, "deferred for "+d.Reason+": ", d.Change)
	}
	for _, i := range p.Invocations {
		showInvocation(&b, "", i)
	}
	for _, d := range p.DeferredInvocations {
		showInvocation(&b, "deferred for "+d.Reason+": ", d.Invocation)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Outputs)) {
		fmt.Fprintf(&b, "output %s = %s\n", name, ShowValue(p.Outputs[name]))
	}
	if !p.Diags.HasErrors() {
		fmt.Fprintf(&b, "complete %t, applyable %t\n", p.Complete, p.Applyable)
	}
	b.WriteString(ShowDiagnostics(p.Diags))
	return b.String()
}

func showChange(b *strings.Builder, prefix string, c *engine.Change) {
	fmt.Fprintf(b, "%s%s %s", prefix, c.Action, c.Address())
	if c.Deposed != "" {
		fmt.Fprintf(b, " deposed %s", c.Deposed)
	}
	if c.IsMove() {
		fmt.Fprintf(b, " was %s", c.PreviousAddr)
	}
	if c.Importing != nil {
		b.WriteString(" importing " + showImporting(c.Importing))
	}
	if c.Reason != "" {
		fmt.Fprintf(b, " (%s)", c.Reason)
	}
	for _, path := range c.Replace {
		fmt.Fprintf(b, " replace %s", marks.DescribePath(path))
	}
	b.WriteString("\n")
	showDifferences(b, c.Before, c.After)
}

func showInvocation(b *strings.Builder, prefix string, i *engine.Invocation) {
	fmt.Fprintf(b, "%s%s of %s (%d.%d) invokes %s\n", prefix, i.Trigger.Event, i.Trigger.Resource, i.Trigger.Block, i.Trigger.Position, i.Addr)
	showDifferences(b, cty.NilVal, i.Config)
}

func showImporting(i *engine.Importing) string {
	switch {
	case i.Unknown:
		return "?"
	case i.Identity != cty.NilVal:
		return ShowValue(i.Identity)
	default:
		return i.ID
	}
}

// showDifferences writes the attributes that are not the same before and after.
func showDifferences(b *strings.Builder, before, after cty.Value) {
	for _, name := range names(before, after) {
		was, is := attribute(before, name), attribute(after, name)
		switch {
		case was == cty.NilVal:
			if is.IsMarked() || !is.IsKnown() || !is.IsNull() {
				fmt.Fprintf(b, "  %s = %s\n", name, ShowValue(is))
			}
		case is != cty.NilVal && !was.RawEquals(is):
			fmt.Fprintf(b, "  %s = %s -> %s\n", name, ShowValue(was), ShowValue(is))
		}
	}
}

func names(objects ...cty.Value) []string {
	found := map[string]bool{}
	for _, object := range objects {
		if object == cty.NilVal || !object.Type().IsObjectType() {
			continue
		}
		for name := range object.Type().AttributeTypes() {
			found[name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// ShowValue returns a value as text.
func ShowValue(v cty.Value) string {
	switch {
	case v == cty.NilVal:
		return "none"
	case v.IsMarked():
		bare, found := v.Unmark()
		text := ShowValue(bare)
		for mark := range found {
			if mark == marks.Sensitive {
				text = "!" + text
			} else {
				text = fmt.Sprintf("%v:%s", mark, text)
			}
		}
		return text
	case !v.IsKnown():
		return "?"
	case v.IsNull():
		return "null"
	case v.Type() == cty.String:
		return fmt.Sprintf("%q", v.AsString())
	case v.Type() == cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case v.Type() == cty.Bool:
		return fmt.Sprint(v.True())
	case v.Type().IsObjectType() || v.Type().IsMapType():
		return showMembers(v, "{", "}", func(key cty.Value) string { return key.AsString() + " = " })
	default:
		return showMembers(v, "[", "]", func(cty.Value) string { return "" })
	}
}

func showMembers(v cty.Value, before, after string, prefix func(cty.Value) string) string {
	var parts []string
	for it := v.ElementIterator(); it.Next(); {
		key, element := it.Element()
		parts = append(parts, prefix(key)+ShowValue(element))
	}
	return before + strings.Join(parts, ", ") + after
}

// ShowDiagnostics returns the summaries of diagnostics with their places, one a line, sorted.
func ShowDiagnostics(diags hcl.Diagnostics) string {
	lines := make([]string, 0, len(diags))
	for _, diag := range diags {
		line := "error: " + diag.Summary
		if diag.Severity == hcl.DiagWarning {
			line = "warning: " + diag.Summary
		}
		if data, ok := diag.Extra.(*engine.DiagnosticData); ok && data.Resource != "" {
			line += " of " + data.Resource
		}
		if diag.Subject != nil {
			line += fmt.Sprintf(" at %s:%d", diag.Subject.Filename, diag.Subject.Start.Line)
		}
		lines = append(lines, line+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
