// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// forEachCases are values of for_each, with the report about the instances for each.
var forEachCases = map[string]struct {
	forEach string
	err     string // summary, or "" for none
	want    string // keys of the instances
}{
	"two":              {`for_each = { one = 1, two = 2 }`, "", "one two"},
	"none":             {`for_each = {}`, "", ""},
	"single":           {``, "", "-"},
	"null":             {`for_each = var.nothing`, "for_each cannot be null", ""},
	"string":           {`for_each = "one"`, "for_each needs a map, an object or a set of strings", ""},
	"sensitive":        {`for_each = sensitive({ one = 1 })`, "for_each cannot be sensitive", ""},
	"unknown":          {`for_each = var.unknown`, "", "*"},
	"unknown dynamic":  {`for_each = jsondecode(uuid())`, "", "*"},
	"unresolved name":  {`for_each = var.missing`, "Unknown variable", ""},
	"unknown a string": {`for_each = uuid()`, "for_each needs a map, an object or a set of strings", ""},
}

func instanceKeys(plan *stackplan.Plan, name string) string {
	keys := ""
	for _, c := range plan.Components {
		if c.Addr.Item.Component.Name != name {
			continue
		}
		key := c.Addr.Item.Key
		if len(c.Addr.Stack.Path()) > 0 {
			key = c.Addr.Stack.Path()[0].Key
		}
		text, isString := key.AsString()
		switch {
		case key.IsWildcard():
			text = "*"
		case !isString:
			text = "-"
		}
		if keys != "" {
			keys += " "
		}
		keys += text
	}
	return keys
}

func TestRow222InstancesOfBlocks(t *testing.T) {
	t.Parallel()
	blocks := map[string]struct{ block, counted string }{
		"component": {"component \"c\" {\n  FOREACH\n  source = \"./pass\"\n}\n", "c"},
		"stack":     {"stack \"s\" {\n  FOREACH\n  source = \"./child\"\n}\n", "inner"},
		"provider":  {"provider \"fake\" \"p\" {\n  FOREACH\n}\n", ""},
	}
	for kind, block := range blocks {
		for name, test := range forEachCases {
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				s := stacktest.InMemory(t, "-- main.tfcomponent.hcl --\n"+replaceForEach(block.block, test.forEach)+`
variable "nothing" {
  type    = map(string)
  default = null
}
variable "unknown" { type = set(string) }
`+fakeRequired+`
-- child/main.tfcomponent.hcl --
component "inner" { source = "../pass" }
`+passModule, withFakeProvider)
				s.Inputs["unknown"] = cty.UnknownVal(cty.Set(cty.String))
				if test.err != "" {
					planFails(t, s, "error main.tfcomponent.hcl:2: "+test.err+"\n")
					return
				}
				plan := s.Plan(engine.Normal)
				if block.counted == "" {
					return // its instances are seen through references: row 225
				}
				if got := instanceKeys(plan, block.counted); got != test.want {
					t.Errorf("instances %q, want %q", got, test.want)
				}
			})
		}
	}
}

// results plans a stack and returns the inputs of its component "watch".
func results(t *testing.T, config string) (cty.Value, *stackplan.Plan) {
	t.Helper()
	s := stacktest.InMemory(t, "-- main.tfcomponent.hcl --\nvariable \"unknown\" { type = set(string) }\n"+config+`
-- child/main.tfcomponent.hcl --
variable "v" {
  type    = string
  default = "x"
}
output "v" {
  type  = string
  value = var.v
}
output "kind" {
  type  = number
  value = 1
}
-- kinds/main.tf --
variable "v" { type = any }
output "v" { value = var.v }
`+passModule, withFakeProvider)
	s.Inputs["unknown"] = cty.UnknownVal(cty.Set(cty.String))
	plan := s.Plan(engine.Normal)
	for _, c := range plan.Components {
		if c.Addr.Item.Component.Name == "watch" {
			return c.Inputs["in"], plan
		}
	}
	t.Fatal("component.watch is not in the plan")
	return cty.NilVal, nil
}

func wantResult(t *testing.T, got, want cty.Value) {
	t.Helper()
	if !got.RawEquals(want) {
		t.Errorf("the reference is %#v, want %#v", got, want)
	}
}

func TestRow223ResultOfComponent(t *testing.T) {
	t.Parallel()
	const watch = "component \"watch\" {\n  source = \"./pass\"\n  inputs = { in = component.c }\n}\n"
	for name, test := range map[string]struct {
		component string
		want      cty.Value
	}{
		"single": {
			`inputs = { v = "x" }`,
			cty.ObjectVal(map[string]cty.Value{"v": cty.StringVal("x")}),
		},
		"for_each": { // instances have different types, so it is not a map
			`for_each = { one = 1, two = ["x"] }
  inputs = { v = each.value }`,
			cty.ObjectVal(map[string]cty.Value{
				"one": cty.ObjectVal(map[string]cty.Value{"v": cty.NumberIntVal(1)}),
				"two": cty.ObjectVal(map[string]cty.Value{"v": cty.TupleVal([]cty.Value{cty.StringVal("x")})}),
			}),
		},
		"none": {
			`for_each = {}
  inputs = { v = each.value }`,
			cty.EmptyObjectVal,
		},
		"unknown": {
			`for_each = var.unknown
  inputs = { v = each.value }`,
			cty.DynamicVal,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := results(t, "component \"c\" {\n  source = \"./kinds\"\n  "+test.component+"\n}\n"+watch)
			wantResult(t, got, test.want)
		})
	}
	t.Run("error", func(t *testing.T) {
		t.Parallel()
		s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
component "c" {
  for_each = var.null
  source   = "./pass"
}
variable "null" {
  type    = map(string)
  default = null
}
component "watch" {
  source = "./pass"
  inputs = { in = component.c["k"].out.attribute + 1 }
}
output "o" {
  type  = number
  value = component.c["k"].out
}
`+passModule)
		planFails(t, s, "error main.tfcomponent.hcl:2: for_each cannot be null\n") // and nothing that follows from it
	})
}

func TestRow224ResultOfStack(t *testing.T) {
	t.Parallel()
	const watch = "component \"watch\" {\n  source = \"./pass\"\n  inputs = { in = stack.s }\n}\n"
	outputs := cty.Object(map[string]cty.Type{"v": cty.String, "kind": cty.Number})
	of := func(v string) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"v": cty.StringVal(v), "kind": cty.NumberIntVal(1)})
	}
	for name, test := range map[string]struct {
		stack string
		want  cty.Value
	}{
		"single": {``, of("x")},
		"for_each": {
			"for_each = toset([\"a\", \"b\"])\n  inputs = { v = each.key }",
			cty.MapVal(map[string]cty.Value{"a": of("a"), "b": of("b")}),
		},
		"none":    {`for_each = {}`, cty.MapValEmpty(outputs)},
		"unknown": {`for_each = var.unknown`, cty.UnknownVal(cty.Map(outputs))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := results(t, "stack \"s\" {\n  source = \"./child\"\n  "+test.stack+"\n}\n"+watch)
			wantResult(t, got, test.want)
		})
	}
}

func TestRow225ResultOfProvider(t *testing.T) {
	t.Parallel()
	// References cannot be inputs, so their uses show their values.
	for name, test := range map[string]struct {
		forEach, watched string
		want             cty.Value
	}{
		"single":        {``, `provider.fake.p == provider.fake.p && can(provider.fake.p) && !can(keys(provider.fake.p))`, cty.True},
		"map":           {`for_each = { a = 1, b = 2 }`, `keys(provider.fake.p)`, list("a", "b")},
		"map, elements": {`for_each = { a = 1, b = 2 }`, `provider.fake.p["a"] == provider.fake.p["b"]`, cty.False},
		"empty":         {`for_each = {}`, `keys(provider.fake.p)`, cty.ListValEmpty(cty.String)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := results(t, fakeRequired+"provider \"fake\" \"p\" {\n  "+test.forEach+"\n}\n"+`
component "watch" {
  source = "./pass"
  inputs = { in = `+test.watched+` }
}
`)
			wantResult(t, got, test.want)
		})
	}
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		got, _ := results(t, fakeRequired+`
provider "fake" "p" { for_each = var.unknown }
component "watch" {
  source = "./pass"
  inputs = { in = [for p in [keys(provider.fake.p)] : p][0] }
}
`)
		if got.IsKnown() || !got.Type().Equals(cty.List(cty.String)) {
			t.Errorf("keys of an unknown map of providers: %#v, want an unknown list of strings", got)
		}
	})
}

func TestTrapC07UnknownSetsInPlanAndApply(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "names" { type = set(string) }
component "c" {
  for_each = var.names
  source   = "./mod"
}
stack "s" {
  for_each = var.names
  source   = "./child"
}
-- child/main.tfcomponent.hcl --
component "c" { source = "../mod" }
-- mod/main.tf --
resource "terraform_data" "this" {}
`)
	s.LeaveUnknown = true
	s.Inputs["names"] = cty.UnknownVal(cty.Set(cty.String))
	plan := s.Plan(engine.Normal)
	if diff := cmp.Diff(`incomplete
input names: create (unknown)
component.c[*]: create, incomplete, deferred (deferred_prereq)
  terraform_data.this: deferred (deferred_prereq), create
stack.s[*].component.c: create, incomplete, deferred (deferred_prereq)
  terraform_data.this: deferred (deferred_prereq), create
`, stacktest.PlanText(plan)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	s.Apply(plan)
	sameState(t, s, "input names = (unknown)\n")
}

func replaceForEach(block, forEach string) string {
	return strings.ReplaceAll(block, "FOREACH", forEach)
}
