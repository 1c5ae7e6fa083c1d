// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package reference_test

import (
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/cairnstacks/cairn/stackruntime/internal/reference"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// load reads the stack in an archive of files. Each directory that sources name has to have one.
func load(t *testing.T, archive string) *stackconfig.Stack {
	t.Helper()
	dir := t.TempDir()
	for _, file := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, file.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config, diags := stackconfig.Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return config.Root
}

const tree = `
-- main.tfcomponent.hcl --
required_providers {
  p = {
    source  = "example.com/corp/p"
    version = "1.0.0"
  }
}
variable "v" { type = string }
locals {
  direct   = component.a.out
  indirect = local.direct
  none     = var.v
}
provider "p" "x" {
  for_each = toset([component.b.out])
  config {
    token = local.indirect
    nested { deep = stack.s.out }
  }
}
component "a" { source = "./mod" }
component "b" {
  source = "./mod"
  inputs = { in = component.a.out }
}
component "c" {
  source     = "./mod"
  for_each   = toset([local.indirect])
  inputs     = { in = [var.v, each.key, component.nosuch] }
  depends_on = [component.b, stack.s]
}
component "d" {
  source    = "./mod"
  providers = { p = provider.p.x["k"] }
}
stack "s" {
  source     = "./child"
  for_each   = toset([component.b.out])
  inputs     = { v = local.direct }
  depends_on = [component.c]
}
removed {
  from     = stack.gone[each.key]
  for_each = toset([component.a.out])
  source   = "./child"
  inputs   = { v = stack.s.out }
}
output "o" {
  type  = string
  value = "${stack.s.out}${local.none}"
}
-- mod/main.tf --
-- child/main.tfcomponent.hcl --
variable "v" { type = string }
locals { l = var.v }
component "inner" {
  source = "./mod"
  inputs = { in = local.l }
}
output "out" {
  type  = string
  value = component.inner.out
}
-- child/mod/main.tf --
`

func TestRequirements(t *testing.T) {
	root := load(t, tree)
	graph := reference.New(root)
	provider := slices.Collect(maps.Values(root.Providers))[0]
	child := root.Children["s"]
	for name, test := range map[string]struct {
		stack *stackconfig.Stack
		decl  any
		want  string
	}{
		"nothing":                        {root, root.Components["a"], ""},
		"a component ends it":            {root, root.Components["b"], "component.a"},
		"for_each, inputs, depends_on":   {root, root.Components["c"], "component.a component.b stack.s variables"},
		"providers argument":             {root, root.Components["d"], "component.a component.b stack.s"},
		"local value":                    {root, root.Locals["indirect"], "component.a"},
		"variable of the root":           {root, root.Locals["none"], "variables"},
		"arguments of a provider":        {root, provider, "component.a component.b stack.s"},
		"the block of a stack call":      {root, root.Calls["s"], "component.a component.b component.c"},
		"output":                         {root, root.Outputs["o"], "stack.s variables"},
		"removed block":                  {root, root.Removed[0], "component.a stack.s"},
		"variable of an embedded stack":  {child, child.Components["inner"], "variables"},
		"component of an embedded stack": {child, child.Outputs["out"], "component.inner"},
		"of another graph":               {child, root.Components["b"], ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := graph.Requirements(test.stack, test.decl)
			var words []string
			for _, name := range got.Components {
				words = append(words, "component."+name)
			}
			for _, name := range got.Calls {
				words = append(words, "stack."+name)
			}
			if got.Variables {
				words = append(words, "variables")
			}
			if text := strings.Join(words, " "); text != test.want {
				t.Errorf("got %q, want %q", text, test.want)
			}
		})
	}
}

func TestCyclesThroughDependsOn(t *testing.T) {
	// stack.s depends on component.c, which depends on stack.s: the tree above has that cycle, and no
	// other.
	diags := reference.New(load(t, tree)).CheckCycles()
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "component.c") || strings.Contains(diags[0].Detail, "component.a") {
		t.Errorf("got %v, want the one cycle of component.c and stack.s", diags)
	}
	without := strings.Replace(tree, "depends_on = [component.c]", "", 1)
	if diags := reference.New(load(t, without)).CheckCycles(); len(diags) > 0 {
		t.Errorf("got %v, want nothing", diags)
	}
}

// Cycles are reported by name, each as a chain where it is one.
func TestCycles(t *testing.T) {
	diags := reference.New(load(t, `
-- main.tfcomponent.hcl --
locals {
  self = local.self
  z    = local.y
  y    = local.x
  x    = local.z
}
stack "s" {
  source = "./child"
  inputs = { v = stack.s.out }
}
-- child/main.tfcomponent.hcl --
variable "v" { type = string }
output "out" {
  type  = string
  value = var.v
}
`)).CheckCycles()
	var got []string
	for _, diag := range diags {
		var chain []string
		for line := range strings.SplitSeq(diag.Detail, "\n  - ") {
			if name, _, found := strings.Cut(line, ", at "); found {
				chain = append(chain, name)
			}
		}
		got = append(got, fmt.Sprintf("%d: %s", diag.Subject.Start.Line, strings.Join(chain, " > ")))
	}
	want := []string{
		"2: local.self",
		"5: local.x > local.z > local.y",
		"7: stack.s collected outputs > stack.s.output.out > stack.s inputs",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cycles (-want +got):\n%s", diff)
	}
}

// edges make a graph of letters: "ab" leads from a to b.
func edges(list ...string) func(string) []string {
	return func(node string) []string {
		var next []string
		for _, edge := range list {
			if edge[:1] == node {
				next = append(next, edge[1:])
			}
		}
		return next
	}
}

func TestGroups(t *testing.T) {
	for name, test := range map[string]struct {
		nodes string
		edges []string
		want  string
	}{
		"none":                      {"", nil, ""},
		"alone":                     {"abc", nil, "a b c"},
		"chain":                     {"abc", []string{"ab", "bc"}, "a b c"},
		"to itself":                 {"a", []string{"aa"}, "a"},
		"cycle":                     {"abc", []string{"ab", "bc", "ca"}, "abc"},
		"reached only":              {"a", []string{"ab", "ba", "bc"}, "ab c"},
		"two cycles that meet":      {"abcd", []string{"ab", "ba", "bc", "cb", "cd"}, "abc d"},
		"two cycles one way":        {"abcd", []string{"ab", "ba", "bc", "cd", "dc"}, "ab cd"},
		"edge to a finished group":  {"abcd", []string{"ab", "ac", "dc", "da"}, "a b c d"},
		"cycle with a way round it": {"abcd", []string{"ab", "bc", "cd", "da", "ac"}, "abcd"},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := strings.Split(test.nodes, "")
			var got []string
			for _, group := range reference.Groups(slices.Values(nodes), edges(test.edges...)) {
				slices.Sort(group)
				got = append(got, strings.Join(group, ""))
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("got %q, want %q", text, test.want)
			}
		})
	}
}

func TestReach(t *testing.T) {
	next := edges("ab", "bc", "cb", "de")
	for from, want := range map[string]string{"a": "bc", "b": "bc", "c": "bc", "d": "e", "e": "", "ad": "bce"} {
		got := reference.Reach(slices.Values(strings.Split(from, "")), func(n string) iter.Seq[string] { return slices.Values(next(n)) })
		if text := strings.Join(slices.Sorted(maps.Keys(got)), ""); text != want {
			t.Errorf("from %s: got %q, want %q", from, text, want)
		}
	}
}
