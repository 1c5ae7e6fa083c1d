// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A comparison has the results of terraform and of us for an expression in a plan. A value is
// cty.NilVal if evaluation fails.
type comparison struct {
	expr      string
	got, want cty.Value
}

func (c comparison) String() string {
	text := func(v cty.Value) string {
		if v == cty.NilVal {
			return "an error"
		}
		return v.GoString()
	}
	return fmt.Sprintf("%s\n got: %s\nwant: %s", c.expr, text(c.got), text(c.want))
}

// isSame reports whether both fail, or have the same value, type and marks, and the same
// refinements of unknown values.
func (c comparison) isSame() bool {
	if c.got == cty.NilVal || c.want == cty.NilVal {
		return c.got == c.want
	}
	return c.got.RawEquals(c.want) || planText(c.got) != "" && planText(c.got) == planText(c.want)
}

// knowsMore reports whether both are unknown, but we know a type that terraform does not know, a
// refinement where terraform has none, or a mark.
func (c comparison) knowsMore() bool {
	if c.got == cty.NilVal || c.want == cty.NilVal || c.got.IsKnown() || c.want.IsKnown() {
		return false
	}
	got, gotMarks := c.got.Unmark()
	want, wantMarks := c.want.Unmark()
	for mark := range wantMarks {
		if !gotMarks.Has(mark) {
			return false
		}
	}
	return got.RawEquals(want) || want.RawEquals(cty.UnknownVal(want.Type())) &&
		(want.Type() == cty.DynamicPseudoType || want.Type().Equals(got.Type()))
}

// compareWithTerraform evaluates expressions in a plan, by terraform and by us. Infinite results
// are left out: plans have no place for them.
func compareWithTerraform(t *testing.T, expressions []string) []comparison {
	t.Helper()
	dir := newCorpusDir(t)
	scopes := newCorpusScopes(t, dir)
	tests := make([]string, len(expressions))
	for i, expr := range expressions {
		tests[i] = "can(jsonencode([" + expr + "]))" // not of infinity
	}
	all := make([]comparison, len(expressions))
	var sound []string
	var positions []int
	for i, answer := range askConsole(t, dir, askValues, tests) {
		all[i] = comparison{expr: expressions[i]}
		if value, diags := parseExpression(t, expressions[i]).Value(scopes.plan); !diags.HasErrors() {
			all[i].got = value
		}
		if answer != "false" {
			sound = append(sound, expressions[i])
			positions = append(positions, i)
		}
	}
	for i, value := range planValues(t, dir, sound) {
		all[positions[i]].want = value
	}
	return slices.DeleteFunc(all, func(c comparison) bool { return c.got != cty.NilVal && strings.Contains(c.got.GoString(), "Inf)") })
}

// oddArguments are given to every function in every place: unknown, sensitive, null, and of wrong
// types.
var oddArguments = []string{
	`local.any`, `local.str`, `local.num`, `local.bool`, `local.strlist`, `local.prefix`, `[local.any]`, `["x", local.str]`,
	`toset(["x", local.str])`, `{ a = local.any }`, `tomap({ a = local.str })`, `sensitive(local.any)`, `sensitive(local.str)`,
	`sensitive(local.strlist)`, `[sensitive(local.str)]`, `{ a = sensitive(local.str) }`, `[sensitive("x")]`,
	`tolist(["x", sensitive("y")])`, `{ a = sensitive("x") }`, `sensitive("x")`, `sensitive(1)`, `sensitive(local.null)`,
	`null`, `local.null`, `tonumber(null)`, `[null]`, `{ a = null }`, `"x"`, `""`, `"1"`, `1`, `-1`, `1.5`, `true`, `[]`, `{}`,
	`["x", 1]`, `{ a = "x" }`, `toset([])`, `[[1], [2]]`,
}

// callsWith returns calls of a function in which each argument in turn, and each pair of them, is
// another one.
func callsWith(t *testing.T, source string, arguments []string) []string {
	t.Helper()
	call, ok := parseExpression(t, source).(*hclsyntax.FunctionCallExpr)
	if !ok || call.ExpandFinal {
		t.Fatalf("%s is not a plain call", source)
	}
	args := make([]string, len(call.Args))
	for i, arg := range call.Args {
		args[i] = string(arg.Range().SliceBytes([]byte(source)))
	}
	var calls []string
	for i := range args {
		for _, odd := range arguments {
			changed := slices.Clone(args)
			changed[i] = odd
			calls = append(calls, call.Name+"("+strings.Join(changed, ", ")+")")
		}
	}
	return calls
}

// Every function takes odd arguments as terraform's does.
func TestOddArgumentsAgainstTerraform(t *testing.T) {
	needTerraform(t)
	var calls []string
	section := ""
	for _, entry := range readCorpus(t, functionsFile) {
		if entry.section != section && !strings.Contains(entry.expr, "timestamp()") {
			section = entry.section
			calls = append(calls, callsWith(t, entry.expr, oddArguments)...)
		}
	}
	if len(calls) < 5000 {
		t.Errorf("there are only %d calls", len(calls))
	}
	for _, c := range compareWithTerraform(t, calls) {
		if !c.isSame() && !c.knowsMore() && differences[c.expr] == "" {
			t.Error(c)
		}
	}
}
