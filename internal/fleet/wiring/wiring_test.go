// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wiring

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// parse reads the text of "inputs", with local values after it.
func parse(t *testing.T, src string) (*Inputs, hcl.Diagnostics) {
	t.Helper()
	file, diags := hclsource.Parse([]byte(src), "w.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	attributes := file.Body.(*hclsyntax.Body).Attributes
	locals := map[string]Local{}
	for name, attribute := range attributes {
		if name != "inputs" {
			locals[name] = Local{attribute.Expr, attribute.NameRange}
		}
	}
	return Parse(attributes["inputs"].Expr, locals, file)
}

func texts(diags hcl.Diagnostics) string {
	var lines []string
	for _, diag := range diags {
		lines = append(lines, fmt.Sprintf("%d:%d %s: %s", diag.Subject.Start.Line, diag.Subject.Start.Column, diag.Summary, diag.Detail))
	}
	return strings.Join(lines, "\n")
}

func TestReferences(t *testing.T) {
	for src, want := range map[string]string{
		`inputs = { a = 1 }`:                                                   "",
		`inputs = { a = stack.net.output.vpc.id }`:                             "a: stack.net.output.vpc",
		`inputs = { a = stack.net.output }`:                                    "a: stack.net.output",
		`inputs = { a = stack["n.1"].output["x"] }`:                            `a: stack["n.1"].output.x`,
		`inputs = { a = stack.net.deployment["prod"].output.x }`:               `a: stack.net.deployment["prod"].output.x`,
		`inputs = { a = [for x in stack.net.output.list : upper(x)] }`:         "a: stack.net.output.list",
		"inputs = { a = local.l }\nl = \"${local.m}-x\"\nm = stack.b.output.x": "a: stack.b.output.x",
	} {
		in, diags := parse(t, src)
		if len(diags) > 0 {
			t.Errorf("%s: %s", src, texts(diags))
			continue
		}
		var got []string
		for name, references := range in.References() {
			for _, r := range references {
				got = append(got, name+": "+r.Text)
			}
		}
		slices.Sort(got)
		if got := strings.Join(got, "\n"); got != want {
			t.Errorf("%s: got %q, want %q", src, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for src, want := range map[string]string{
		`inputs = [1]`:               "1:10 Invalid inputs",
		`inputs = { (1 + 1) = 1 }`:   "1:12 Invalid input name",
		`inputs = { a = 1, a = 2 }`:  "1:19 Duplicate input",
		`inputs = { a = var.x }`:     "1:16 Unknown reference",
		`inputs = { a = stack.net }`: "1:16 Invalid reference to an output",
		`inputs = { a = stack.net.outpt.x }`: "1:25 Invalid reference to an output: " +
			"A stack has no \"outpt\" here: others see its outputs, as stack.net.output.OUTPUT. Did you mean \"output\"?",
		`inputs = { a = stack[local.n].output.x }` + "\nn = \"b\"": "1:16 Invalid reference to an output",
		`inputs = { a = local.nme }` +
			"\nname = 1": "1:16 Unknown local value: There is no local value \"nme\" in this file. Did you mean \"name\"?",
		"inputs = { a = local.l }\nl = local.m\nm = local.l": "3:5 Cycle of local values: The local value \"l\" is made of itself.",
		`inputs = { a = timestamp() }`:                       "1:16 Impure function in inputs",
		"inputs = { a = local.l }\nl = uuid()":               "2:5 Impure function in inputs",
	} {
		if _, diags := parse(t, src); !strings.HasPrefix(texts(diags), want) {
			t.Errorf("%s: got %q, want %q", src, texts(diags), want)
		}
	}
}

func TestValues(t *testing.T) {
	secret := cty.StringVal("hunter2").Mark(marks.Sensitive)
	units := map[Origin]Outputs{
		{Stack: "net"}: {Values: map[string]cty.Value{
			"id":   cty.UnknownVal(cty.String).RefineNotNull(),
			"name": cty.StringVal("n"),
			"list": cty.ListVal([]cty.Value{cty.StringVal("a")}),
			"pass": secret,
		}},
		{Stack: "net", Deployment: "prod"}: {Values: map[string]cty.Value{"id": cty.StringVal("p")}},
		{Stack: "root"}:                    {Open: true},
		{Stack: "old"}:                     {Stored: true, Values: map[string]cty.Value{"zone": cty.True}},
		{Stack: "none"}:                    {Missing: "It was never applied."},
		{Stack: "gone"}:                    {},
		{Stack: "fleeting"}:                {Values: map[string]cty.Value{"token": cty.StringVal("t").Mark(marks.Ephemeral)}},
	}
	outputs := func(origin Origin) (Outputs, error) {
		if origin.Stack == "broken" {
			return Outputs{}, errors.New("no disk")
		}
		return units[origin], nil
	}
	for src, want := range map[string]cty.Value{
		`inputs = { a = stack.net.output.name }`: cty.StringVal("n"),
		`inputs = { a = stack.net.output.id }`:   cty.UnknownVal(cty.String).RefineNotNull(),
		`inputs = { a = [stack.net.output.id, stack.net.output.name] }`: cty.TupleVal([]cty.Value{
			cty.UnknownVal(cty.String).RefineNotNull(),
			cty.StringVal("n"),
		}),
		`inputs = { a = stack.net.deployment["prod"].output.id }`:                   cty.StringVal("p"),
		`inputs = { a = stack.net.output.pass }`:                                    secret,
		`inputs = { a = "${stack.net.output.pass}" }`:                               secret,
		`inputs = { a = stack.root.output.any }`:                                    cty.DynamicVal,
		`inputs = { a = stack.root.output }`:                                        cty.DynamicVal,
		`inputs = { a = one(stack.net.output.list) }`:                               cty.StringVal("a"),
		"inputs = { a = local.l }\nl = \"${local.m}-x\"\nm = stack.net.output.name": cty.StringVal("n-x"),
	} {
		in, diags := parse(t, src)
		if len(diags) > 0 {
			t.Fatalf("%s: %s", src, texts(diags))
		}
		values, diags := in.Values(outputs)
		if len(diags) > 0 || len(values) != 1 || !values[0].Value.RawEquals(want) {
			t.Errorf("%s: got %#v %s, want %#v", src, values, texts(diags), want)
		}
	}
	for src, want := range map[string]string{
		`inputs = { a = stack.net.output.nam }`: "1:16 Unknown output: net has no output \"nam\". Did you mean \"name\"?",
		`inputs = { a = stack.old.output.zne }`: "1:16 Unknown output: old has no output \"zne\". " +
			"Did you mean \"zone\"? These are the outputs in its state",
		`inputs = { a = stack.none.output.x }`: "1:16 Outputs not available: It was never applied.",
		`inputs = { a = stack.broken.output.x }`: "1:16 Outputs not available: " +
			"The outputs of \"broken\" cannot be read: no disk.",
		`inputs = { a = stack.fleeting.output.token }`:                  "1:16 Ephemeral input",
		"inputs = { a = local.l }\nl = tonumber(stack.net.output.name)": "2:14 Invalid function argument",
	} {
		in, diags := parse(t, src)
		if len(diags) > 0 {
			t.Fatalf("%s: %s", src, texts(diags))
		}
		if _, diags := in.Values(outputs); !strings.HasPrefix(texts(diags), want) {
			t.Errorf("%s: got %q, want %q", src, texts(diags), want)
		}
	}

	// An unreadable output is not also said to be missing.
	in, _ := parse(t, `inputs = { a = "${stack.broken.output.x}${stack.broken.output.y}" }`)
	if _, diags := in.Values(outputs); texts(diags) != "1:19 Outputs not available: The outputs of \"broken\" cannot be read: no disk." {
		t.Errorf("of outputs that cannot be read: %q", texts(diags))
	}

	// Rule N2.
	in, _ = parse(t, `inputs = { a = tonumber(stack.net.output.pass) }`)
	if _, diags := in.Values(outputs); !diags.HasErrors() || strings.Contains(texts(diags), "hunter2") {
		t.Errorf("got %s, want an error without the value", texts(diags))
	}
}
