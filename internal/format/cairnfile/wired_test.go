// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"fmt"
	"strings"
	"testing"
)

// resolved returns the diagnostics of a file, each with its place.
func resolved(src string) (*Model, string) {
	w, diags := Parse(FileName, []byte(src))
	var m *Model
	if !diags.HasErrors() {
		m, diags = Resolve(w)
	}
	if m != nil {
		_, moreDiags := m.Graph(true)
		diags = diags.Extend(moreDiags)
	}
	var lines []string
	for _, diag := range diags {
		lines = append(lines, fmt.Sprintf("%d:%d %s: %s", diag.Subject.Start.Line, diag.Subject.Start.Column, diag.Summary, diag.Detail))
	}
	return m, strings.Join(lines, "\n")
}

func TestInputsErrors(t *testing.T) {
	const rest = "\nstack \"net\" {}\nstack \"net-prod\" {\n  path = \"net\"\n  deployment = \"prod\"\n" +
		"}\ntask \"t\" { command = \"true\" }\ngroup \"g\" { members = [\"net\"] }\n"
	for src, want := range map[string]string{
		`stack "a" { inputs = { x = stack.nte.output.x } }`: `1:28 Unknown reference: ` +
			`There is no stack "nte" in this file. Did you mean "net"?`,
		`stack "a" { inputs = { x = stack.t.output.x } }`: `1:28 Reference to a non-stack: ` +
			`t is a task, which has no outputs.`,
		`stack "a" { inputs = { x = stack.g.output.x } }`: `1:28 Reference to a non-stack: ` +
			`g is a group, which has no outputs.`,
		`stack "a" { inputs = { x = stack.a.output.x } }`: `1:28 Reference to itself`,
		`stack "a" { inputs = { x = stack.net.deployment["prd"].output.x } }`: `1:28 Unknown deployment: ` +
			`No stack of this file in net has the deployment "prd". Did you mean "prod"?`,
		"stack \"a\" {\n  variables = { x = \"1\" }\n" +
			"  inputs = { x = stack.net.output.x }\n}": `3:14 Duplicate input: The argument "variables" has a value for "x", too.`,
		"stack \"a\" {\n  inputs = { x = stack.net.output.x }\n  before = [\"net\"]\n}":                        `3:13 Cycle in the order: `,
		"stack \"a\" { inputs = { x = stack.b.output.x } }\nstack \"b\" { inputs = { x = stack.a.output.x } }": `2:28 Cycle in the order: `,
		`locals { x = 1, }`:                  "1:",
		"locals { x = 1 }\nlocals { x = 2 }": `2:10 Duplicate local value: There is already a local value "x" at cairn.workspace.hcl:1:10.`,
		`local { x = 1 }`:                    `1:1 Unknown block type: There is no block type "local" in this file. Did you mean "locals"?`,
		`group "b" { 
  members = []
  inputs = {}
}`: `3:3 Unknown argument: There is no argument "inputs" in a group block.`,
	} {
		if _, got := resolved(src + rest); !strings.HasPrefix(got, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", src, got, want)
		}
	}
}

// A stack comes after those that it has inputs from, and is modified by them, with the place of the
// input.
func TestInputsOrder(t *testing.T) {
	const src = `locals { vpc = stack.net.output.vpc }
stack "app" {
  inputs = {
    vpc  = local.vpc
    zone = stack.dns.output.zone
    zz   = stack.net.deployment["default"].output.zone
    prod = stack.net.deployment["prod"].output.zone
  }
}
stack "net" {}
stack "net-prod" {
  path = "net"
  deployment = "prod"
}
stack "dns" {}
`
	m, problems := resolved(src)
	if problems != "" {
		t.Fatal(problems)
	}
	g := graph(t, src, true)
	if got, want := names(g,
		g.Sequence(g.Rule(), nil)), "plan dns apply dns plan net apply net plan net-prod apply net-prod plan app apply app"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	edges := map[string]bool{}
	for n := range g.Len() {
		for edge := range g.Predecessors(n) {
			edges[fmt.Sprintf("%s:%d:%d %s", edge.Place.File, edge.Place.Line, edge.Place.Column, edge.Reason)] = true
		}
	}
	for _, want := range []string{
		"cairn.workspace.hcl:1:16 app has inputs = { vpc = stack.net.output.vpc }",
		"cairn.workspace.hcl:5:12 app has inputs = { zone = stack.dns.output.zone }",
		`cairn.workspace.hcl:7:12 app has inputs = { prod = stack.net.deployment["prod"].output.zone }`,
	} {
		if !edges[want] {
			t.Errorf("no edge %s among %v", want, edges)
		}
	}
	var net, app *Leaf
	for _, leaf := range m.Leaves {
		switch leaf.Name {
		case "net":
			net = leaf
		case "app":
			app = leaf
		}
	}
	modified := m.modified(map[*Leaf]Cause{net: {Text: "a file changed"}})
	if got, want := modified[app].Text, "net is modified, and app has inputs = { vpc = "; !strings.HasPrefix(got, want) {
		t.Errorf("app is modified: %q, want %q", got, want)
	}
}

// Other inputs, or other local values that they are made of, are a change; that others are not.
func TestInputsChanged(t *testing.T) {
	before, problems := resolved("locals {\n  a = 1\n  b = 1\n}\nstack \"app\" { inputs = { x = local.a, y = \"s\" } }\n")
	if problems != "" {
		t.Fatal(problems)
	}
	for src, want := range map[string]string{
		"locals {\n  b = 2\n  a = 1\n}\nstack \"app\" { inputs = { y = \"s\", x = local.a } }\n": "",
		"locals { a = 2 }\nstack \"app\" { inputs = { x = local.a, y = \"s\" } }\n":              "input x of app changed in cairn.workspace.hcl",
		"locals { a = 1 }\nstack \"app\" { inputs = { x = local.a } }\n":                         "input y of app changed in cairn.workspace.hcl",
	} {
		m, problems := resolved(src)
		if problems != "" {
			t.Fatal(problems)
		}
		if got := m.compare(before).changed[m.Leaves[0]].Text; got != want {
			t.Errorf("%s: got %q, want %q", src, got, want)
		}
	}
}
