// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// acrossStacks has references from b to a through a variable of an embedded stack, and from c to
// all of that stack through one of its outputs.
const acrossStacks = `
-- main.tfcomponent.hcl --
component "a" { source = "./box" }
stack "s" {
  source = "./s"
  inputs = { in = component.a.out }
}
component "c" {
  source = "./box"
  inputs = { in = stack.s.out }
}
-- s/main.tfcomponent.hcl --
variable "in" { type = string }
component "b" {
  source = "../box"
  inputs = { in = local.in }
}
component "aside" { source = "../box" }
locals {
  in = var.in
}
output "out" {
  type  = string
  value = component.b.out
}
` + boxModules

func TestRow134And135Dependencies(t *testing.T) {
	s := stacktest.InMemory(t, acrossStacks)
	plan := s.Plan(engine.Normal)
	same(t, "plan", `
component.a: create, applyable
  terraform_data.this: create
component.c: create, applyable, requires component.a stack.s.component.aside stack.s.component.b
  terraform_data.this: create
stack.s.component.aside: create, applyable
  terraform_data.this: create
stack.s.component.b: create, applyable, requires component.a
  terraform_data.this: create
`, stacktest.PlanText(plan))

	s.Apply(plan)
	same(t, "state", `
component.a, required by component.c stack.s.component.b
  terraform_data.this
component.c, requires component.a stack.s.component.aside stack.s.component.b
  terraform_data.this
stack.s.component.aside, required by component.c
  terraform_data.this
stack.s.component.b, requires component.a, required by component.c
  terraform_data.this
`, withoutValues(stacktest.StateText(s.State)))
}

const withDependsOn = `
-- main.tfcomponent.hcl --
component "first" { source = "./box" }
component "empty" {
  for_each = toset([])
  source   = "./box"
}
component "second" {
  source     = "./box"
  depends_on = [component.first, stack.s]
}
stack "s" {
  source     = "./s"
  inputs     = { in = "x" }
  depends_on = [component.first, component.empty]
}
-- s/main.tfcomponent.hcl --
variable "in" { type = string }
component "uses_variable" {
  source = "../box"
  inputs = { in = var.in }
}
component "uses_none" { source = "../box" }
` + boxModules

func TestRow136DependsOn(t *testing.T) {
	s := stacktest.InMemory(t, withDependsOn)
	s.Converge()
	same(t, "plan", `
component.first: no-op
  terraform_data.this: no-op
component.second: no-op, requires component.empty component.first stack.s.component.uses_none stack.s.component.uses_variable
  terraform_data.this: no-op
stack.s.component.uses_none: no-op
  terraform_data.this: no-op
stack.s.component.uses_variable: no-op, requires component.empty component.first
  terraform_data.this: no-op
`, stacktest.PlanText(s.Plan(engine.Normal)))
}

// The depends_on of a stack reaches only those components of the stack that use one of its
// variables.
func TestTrapC12DependsOnOfAStackNeedsAVariable(t *testing.T) {
	s := stacktest.InMemory(t, withDependsOn)
	for _, c := range s.Plan(engine.Normal).Components {
		if c.Addr.Item.Component.Name == "uses_none" && len(c.Requires) > 0 {
			t.Errorf("%s requires %v, want nothing", c.Addr, c.Requires)
		}
	}
}

func TestRow137DestroyUsesRefreshedOutputs(t *testing.T) {
	t.Parallel()
	config := strings.Replace(rotated, "\n  source", fakeSlotLine+"\n  source", 1)
	s := stacktest.Real(t, "-- main.tfcomponent.hcl --"+fakeHead+config+`
component "dependent" {
  source    = "./one"
  inputs    = { id = "d" }
  providers = { fake = provider.fake.secured }
}
`+fakeModules)
	put(t, s, "credentials", testprovider.ExpectedAuthentication)
	s.Converge()
	withOldCredentials(t, s)
	plan := s.Plan(engine.Destroy)
	same(t, "plan", `
component.credentials: delete, destroy mode
component.dependent: delete, applyable, destroy mode, requires component.credentials
  fake_resource.this: delete
`, about(stacktest.PlanText(plan), "component."))
	if got := plan.Components[0].Outputs["value"]; !got.RawEquals(cty.StringVal(testprovider.ExpectedAuthentication)) {
		t.Errorf("planned output of the credentials = %#v, want the fresh one", got)
	}
}

func TestRow138DestroyWithNothingInTheState(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
variable "id" { type = string }
component "data" {
  source = "./data"
  inputs = { id = var.id }
}
component "dependent" {
  source = "./one"
  inputs = { id = component.data.value }
}
`))
	put(t, s, "x", "v")
	s.Inputs["id"] = cty.StringVal("x")
	same(t, "plan", `
input id: create "x", delete on apply
component.data: delete, applyable, destroy mode
component.dependent: delete, applyable, destroy mode, requires component.data
`, stacktest.PlanText(s.Plan(engine.Destroy)))
}

// Whatever would become of a component, a plan that only refreshes reads it.
func TestRowsRefreshOnly(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, after, plan string }{
		"144_component": {
			before: things(`"a"`),
			after:  things(`"a"`),
			plan:   "component.thing[\"a\"]: read, applyable, refresh-only mode\n",
		},
		"145_removed_component": {
			before: things(`"a"`),
			after:  "removed {\n  from = component.thing[\"a\"]\n  source = \"./one\"\n}\n",
			plan:   "component.thing[\"a\"]: read, applyable, refresh-only mode\n",
		},
		"145_forgotten_component": {
			before: things(`"a"`),
			after:  "removed {\n  from = component.thing[\"a\"]\n  source = \"./one\"\n  lifecycle {\n    destroy = false\n  }\n}\n",
			plan:   "component.thing[\"a\"]: read, applyable, refresh-only mode\n",
		},
		"146_removed_stack": {
			before: stacksOf(`"a"`) + thingInStack,
			after:  "removed {\n  from = stack.s[\"a\"]\n  inputs = { id = \"a\" }\n  source = \"./s\"\n}\n",
			plan:   "stack.s[\"a\"].component.thing: read, applyable, refresh-only mode\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stacktest.Real(t, inStacks(test.before))
			s.Converge()
			put(t, s, "a", "changed outside")
			s.Write(inStacks(test.after))
			plan := s.Plan(engine.RefreshOnly)
			same(t, "plan", test.plan, stacktest.PlanText(plan))
			if drift := plan.Components[0].Drift; len(drift) != 1 || drift[0].Address() != "fake_resource.this" {
				t.Errorf("drift: %+v, want that of fake_resource.this", drift)
			}
			s.Apply(plan)
			for _, c := range s.State.Components {
				if !strings.Contains(string(c.Module), "changed outside") {
					t.Errorf("state of %s has not what was found:\n%s", c.Addr, c.Module)
				}
			}
			if len(s.State.Components) != 1 {
				t.Errorf("%d component instances in the state, want the one from before", len(s.State.Components))
			}
		})
	}
}
