// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// unknownKeySets is a stack whose sets can be made unknown: component.keys replaces its resource
// whenever var.again changes, and has only an unknown result until that is done.
const unknownKeySets = `
-- keys.tfcomponent.hcl --
variable "again" {
  type    = string
  default = ""
}
variable "live" {
  type    = set(string)
  default = []
}
variable "dead" {
  type    = set(string)
  default = []
}
component "keys" {
  source = "./keys"
  inputs = { again = var.again, live = var.live, dead = var.dead }
}
-- keys/main.tf --
variable "again" { type = string }
variable "live" { type = set(string) }
variable "dead" { type = set(string) }
resource "terraform_data" "this" {
  input            = { live = var.live, dead = var.dead }
  triggers_replace = var.again
}
output "live" { value = terraform_data.this.output.live }
output "dead" { value = terraform_data.this.output.dead }
-- box/main.tf --
variable "in" {
  type    = string
  default = ""
}
resource "terraform_data" "this" { input = var.in }
output "out" { value = terraform_data.this.output }
`

func keySet(keys ...string) cty.Value {
	values := make([]cty.Value, 0, len(keys))
	for _, key := range keys {
		values = append(values, cty.StringVal(key))
	}
	if len(values) == 0 {
		return cty.SetValEmpty(cty.String)
	}
	return cty.SetVal(values)
}

// rounds applies plans until nothing is deferred, and returns how many it took.
func rounds(t *testing.T, s *stacktest.Stack) int {
	t.Helper()
	for n := 1; ; n++ {
		plan := s.Plan(engine.Normal)
		s.Apply(plan)
		if plan.Complete {
			return n
		}
		if n == 5 {
			t.Fatalf("still deferred after %d rounds:\n%s", n, stacktest.PlanText(plan))
		}
	}
}

// about leaves only those parts of a text of package stacktest that begin with one of the prefixes.
func about(text string, prefixes ...string) string {
	var b strings.Builder
	wanted := false
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "  ") {
			wanted = slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(line, prefix) })
		}
		if wanted {
			b.WriteString(line)
		}
	}
	return b.String()
}

// wantBoxes compares the parts of a plan that begin with component.box or with a stack.
// keptResource is a line of a plan about a resource that stays, whose component waits for something
// else.
var keptResource = regexp.MustCompile(`(?m)^  \S+: deferred \(deferred_prereq\), (no-op|update)\n`)

func wantBoxes(t *testing.T, s *stacktest.Stack, plan *stackplan.Plan, want string) {
	t.Helper()
	text := about(stacktest.PlanText(plan), "component.box", "stack.")
	if isNative(s) { // which plans such a component all the same
		text = keptResource.ReplaceAllString(text, "")
	}
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// contents are the parts of a component's record that only applying it changes.
func contents(state *stackstate.State, addr stackaddrs.AbsComponentInstance) string {
	c := state.Components[addr]
	if c == nil {
		return "nothing"
	}
	return stacktest.ValuesText(c.Inputs) + stacktest.ValuesText(c.Outputs) + string(c.Module)
}

const unknownKeyBoxes = unknownKeySets + `
-- main.tfcomponent.hcl --
component "box" {
  for_each = toset(["a", "b"])
  source   = "./box"
  inputs   = { in = each.key }
}
`

// Two stacks of two components each.
const unknownKeyStacks = unknownKeySets + `
-- main.tfcomponent.hcl --
stack "s" {
  for_each = toset(["a", "b"])
  source   = "./s"
  inputs   = { name = each.key }
}
-- s/main.tfcomponent.hcl --
variable "name" { type = string }
component "one" {
  source = "../box"
  inputs = { in = var.name }
}
component "two" {
  source = "../box"
  inputs = { in = component.one.out }
}
`

// A removed block claims a possible target only if nothing else does, and defers it.
func TestRowsUnknownRemoval(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		before, after string
		live, dead    cty.Value
		plan          string
		left          []string // in the end, without component.keys
	}{
		"122 stacks": {
			before: unknownKeyStacks, live: keySet(), dead: keySet("a", "b"),
			after: `
-- main.tfcomponent.hcl --
removed {
  for_each = component.keys.dead
  from     = stack.s[each.key]
  source   = "./s"
  inputs   = { name = each.key }
}
`,
			plan: `stack.s["a"].component.one: delete, incomplete, deferred (deferred_prereq), destroy mode, requires component.keys
  terraform_data.this: deferred (deferred_prereq), delete
stack.s["a"].component.two: delete, incomplete, deferred (deferred_prereq), destroy mode, requires stack.s["a"].component.one
  terraform_data.this: deferred (deferred_prereq), delete
stack.s["b"].component.one: delete, incomplete, deferred (deferred_prereq), destroy mode, requires component.keys
  terraform_data.this: deferred (deferred_prereq), delete
stack.s["b"].component.two: delete, incomplete, deferred (deferred_prereq), destroy mode, requires stack.s["b"].component.one
  terraform_data.this: deferred (deferred_prereq), delete
`,
		},
		"124 and 125 components": {
			before: unknownKeyBoxes, live: keySet(), dead: keySet("b"),
			after: `
-- main.tfcomponent.hcl --
component "box" {
  for_each = toset(["a"])
  source   = "./box"
  inputs   = { in = each.key }
}
removed {
  for_each = component.keys.dead
  from     = component.box[each.key]
  source   = "./box"
}
`,
			plan: `component.box["a"]: no-op
  terraform_data.this: no-op
component.box["b"]: delete, incomplete, deferred (deferred_prereq), destroy mode
  terraform_data.this: deferred (deferred_prereq), delete
`,
			left: []string{`component.box["a"]`},
		},
		"125 index": {
			before: unknownKeyBoxes, live: keySet(), dead: keySet("b"),
			after: `
-- main.tfcomponent.hcl --
component "box" {
  for_each = toset(["a"])
  source   = "./box"
  inputs   = { in = each.key }
}
removed {
  from   = component.box[join("", component.keys.dead)]
  source = "./box"
}
`,
			plan: `component.box["a"]: no-op
  terraform_data.this: no-op
component.box["b"]: delete, incomplete, deferred (deferred_prereq), destroy mode
  terraform_data.this: deferred (deferred_prereq), delete
`,
			left: []string{`component.box["a"]`},
		},
		"125 forgotten": {
			before: unknownKeyBoxes, live: keySet(), dead: keySet("a", "b"),
			after: `
-- main.tfcomponent.hcl --
removed {
  for_each = component.keys.dead
  from     = component.box[each.key]
  source   = "./box"
  lifecycle {
    destroy = false
  }
}
`,
			plan: `component.box["a"]: forget, incomplete, deferred (deferred_prereq), destroy mode
  terraform_data.this: deferred (deferred_prereq), forget
component.box["b"]: forget, incomplete, deferred (deferred_prereq), destroy mode
  terraform_data.this: deferred (deferred_prereq), forget
`,
		},
		"125 component in stacks": {
			before: unknownKeyStacks, live: keySet(), dead: keySet("a", "b"),
			after: `
-- main.tfcomponent.hcl --
stack "s" {
  for_each = toset(["a", "b"])
  source   = "./s"
  inputs   = { name = each.key }
}
removed {
  for_each = component.keys.dead
  from     = stack.s[each.key].component.two
  source   = "./box"
}
-- s/main.tfcomponent.hcl --
variable "name" { type = string }
component "one" {
  source = "../box"
  inputs = { in = var.name }
}
`,
			plan: `stack.s["a"].component.one: no-op
  terraform_data.this: no-op
stack.s["a"].component.two: delete, incomplete, deferred (deferred_prereq), destroy mode, requires stack.s["a"].component.one
  terraform_data.this: deferred (deferred_prereq), delete
stack.s["b"].component.one: no-op
  terraform_data.this: no-op
stack.s["b"].component.two: delete, incomplete, deferred (deferred_prereq), destroy mode, requires stack.s["b"].component.one
  terraform_data.this: deferred (deferred_prereq), delete
`,
			left: []string{`stack.s["a"].component.one`, `stack.s["b"].component.one`},
		},
		"126 explicitly removed": {
			before: unknownKeyBoxes, live: keySet("a"), dead: keySet(),
			after: `
-- main.tfcomponent.hcl --
component "box" {
  for_each = component.keys.live
  source   = "./box"
  inputs   = { in = each.key }
}
removed {
  from   = component.box["b"]
  source = "./box"
}
`,
			plan: `component.box["a"]: update, incomplete, deferred (deferred_prereq), requires component.keys
component.box["b"]: delete, applyable, destroy mode
  terraform_data.this: delete
`,
			left: []string{`component.box["a"]`},
		},
		"126 stack explicitly removed": {
			before: unknownKeyStacks, live: keySet("a"), dead: keySet(),
			after: `
-- main.tfcomponent.hcl --
stack "s" {
  for_each = component.keys.live
  source   = "./s"
  inputs   = { name = each.key }
}
removed {
  from   = stack.s["b"]
  source = "./s"
  inputs = { name = "b" }
}
`,
			plan: `stack.s["a"].component.one: update, incomplete, deferred (deferred_prereq), requires component.keys
stack.s["a"].component.two: update, incomplete, deferred (deferred_prereq), requires stack.s["a"].component.one
stack.s["b"].component.one: delete, applyable, destroy mode
  terraform_data.this: delete
stack.s["b"].component.two: delete, applyable, destroy mode, requires stack.s["b"].component.one
  terraform_data.this: delete
`,
			left: []string{`stack.s["a"].component.one`, `stack.s["a"].component.two`},
		},
		"127 both unknown": {
			before: unknownKeyBoxes, live: keySet("a"), dead: keySet("b"),
			after: `
-- main.tfcomponent.hcl --
component "box" {
  for_each = component.keys.live
  source   = "./box"
  inputs   = { in = each.key }
}
removed {
  for_each = component.keys.dead
  from     = component.box[each.key]
  source   = "./box"
}
`,
			plan: `component.box["a"]: update, incomplete, deferred (deferred_prereq), requires component.keys
component.box["b"]: update, incomplete, deferred (deferred_prereq), requires component.keys
`,
			left: []string{`component.box["a"]`},
		},
	}
	for name, test := range tests {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := stacktest.Real(t, test.before)
			s.Converge()
			before := s.State
			s.Inputs["again"], s.Inputs["live"], s.Inputs["dead"] = cty.StringVal("1"), test.live, test.dead
			s.Write(test.after)
			plan := s.Plan(engine.Normal)
			if !plan.Applyable || plan.Complete {
				t.Errorf("applyable %t, complete %t; want an applyable plan that is not complete", plan.Applyable, plan.Complete)
			}
			wantBoxes(t, s, plan, test.plan)
			s.Apply(plan)
			for _, c := range plan.Components {
				if c.Complete {
					continue
				}
				if diff := cmp.Diff(contents(before, c.Addr), contents(s.State, c.Addr)); diff != "" {
					t.Errorf("%s was deferred but has changed (-before +after):\n%s", c.Addr, diff)
				}
			}
			if n := rounds(t, s); n != 1 {
				t.Errorf("%d more rounds, want one", n)
			}
			if diff := cmp.Diff(append(test.left, "component.keys"), left(s.State), cmpopts.SortSlices(strings.Compare)); diff != "" {
				t.Errorf("component instances left (-want +got):\n%s", diff)
			}
			for addr, action := range actions(s.Plan(engine.Normal)) {
				if action != stackplan.NoOp {
					t.Errorf("next plan: %s has action %s, want no-op", addr, action)
				}
			}
		})
	}
}
