// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// inStacks completes the files of an archive that begins in main.tfcomponent.hcl with the provider,
// and whatever uses the module "one" with its slot.
func inStacks(archive string) string {
	archive = "-- main.tfcomponent.hcl --\n" + archive
	archive = strings.ReplaceAll(archive, ".tfcomponent.hcl --\n", ".tfcomponent.hcl --"+fakeHead)
	archive = strings.ReplaceAll(archive, `/one"`, `/one"`+fakeSlotLine)
	return archive + fakeModules
}

// things is a component with an object for each key.
func things(keys string) string {
	return "component \"thing\" {\n  for_each = toset([" + keys + "])\n  inputs = { id = each.key }\n  source = \"./one\"\n}\n"
}

// stacksOf is a stack for each key, with an object that is named by it.
func stacksOf(keys string) string {
	return "stack \"s\" {\n  for_each = toset([" + keys + "])\n  inputs = { id = each.key }\n  source = \"./s\"\n}\n"
}

const thingInStack = `
-- s/main.tfcomponent.hcl --
variable "id" { type = string }
component "thing" {
  inputs = { id = var.id }
  source = "../one"
}
`

const emptyStack = `
-- s/main.tfcomponent.hcl --
variable "id" { type = string }
`

const keptAndDependent = `
component "kept" {
  inputs = { id = "k" }
  source = "./one"
}
component "dependent" {
  inputs = { id = "d-${component.kept.id}" }
  source = "./one"
}
`

const forgetDependent = `
removed {
  from = component.dependent
  source = "./one"
  lifecycle {
    destroy = false
  }
}
`

const noLongerManaged = ": Resources no longer managed\n"

// The targets of removed blocks are gone after the apply: from the state, and unless they are
// forgotten, for good.
func TestRowsRemovalAtApply(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after string
		plan          string // of components
		diags         string
		state         string // without inputs and outputs of components
		objects       []string
	}{
		"159_component": {
			before: "component \"thing\" {\n  inputs = { id = \"x\" }\n  source = \"./one\"\n}\n",
			after:  "removed {\n  from = component.thing\n  source = \"./one\"\n}\n",
			plan:   "component.thing: delete, applyable, destroy mode\n  fake_resource.this: delete\n",
		},
		"160_one_added_one_removed": {
			before: things(`"a"`),
			after:  things(`"b"`) + "removed {\n  for_each = toset([\"a\"])\n  from = component.thing[each.key]\n  source = \"./one\"\n}\n",
			plan: "component.thing[\"a\"]: delete, applyable, destroy mode\n  fake_resource.this: delete\n" +
				"component.thing[\"b\"]: create, applyable\n  fake_resource.this: create\n",
			state:   "component.thing[\"b\"]\n  fake_resource.this\n",
			objects: []string{"b"},
		},
		"161_two_blocks": {
			before: things(`"a", "b", "c"`),
			after: things(`"c"`) + "removed {\n  for_each = toset([\"a\"])\n  from = component.thing[each.key]\n  source = \"./one\"\n}\n" +
				"removed {\n  for_each = toset([\"b\"])\n  from = component.thing[each.value]\n  source = \"./one\"\n}\n",
			plan: "component.thing[\"a\"]: delete, applyable, destroy mode\n  fake_resource.this: delete\n" +
				"component.thing[\"b\"]: delete, applyable, destroy mode\n  fake_resource.this: delete\n" +
				"component.thing[\"c\"]: no-op\n  fake_resource.this: no-op\n",
			state:   "component.thing[\"c\"]\n  fake_resource.this\n",
			objects: []string{"c"},
		},
		"162_literal_key": {
			before: things(`"a", "b"`),
			after:  things(`"b"`) + "removed {\n  from = component.thing[\"a\"]\n  source = \"./one\"\n}\n",
			plan: "component.thing[\"a\"]: delete, applyable, destroy mode\n  fake_resource.this: delete\n" +
				"component.thing[\"b\"]: no-op\n  fake_resource.this: no-op\n",
			state:   "component.thing[\"b\"]\n  fake_resource.this\n",
			objects: []string{"b"},
		},
		"163_stack": {
			before: stacksOf(`"a"`) + thingInStack,
			after:  stacksOf(`"b"`) + "removed {\n  from = stack.s[\"a\"]\n  inputs = { id = \"a\" }\n  source = \"./s\"\n}\n",
			plan: "stack.s[\"a\"].component.thing: delete, applyable, destroy mode\n  fake_resource.this: delete\n" +
				"stack.s[\"b\"].component.thing: create, applyable\n  fake_resource.this: create\n",
			state:   "stack.s[\"b\"].component.thing\n  fake_resource.this\n",
			objects: []string{"b"},
		},
		"164_component_in_stacks": {
			before: stacksOf(`"a", "b"`) + "-- s/main.tfcomponent.hcl --\nvariable \"id\" { type = string }\n" +
				"component \"thing\" {\n  for_each = toset([\"x\"])\n  inputs = { id = \"${var.id}-x\" }\n  source = \"../one\"\n}\n",
			after: stacksOf(`"a", "b"`) +
				"removed {\n  for_each = toset([\"a\", \"b\"])\n  from = stack.s[each.key].component.thing[\"x\"]\n  source = \"./one\"\n}\n" +
				emptyStack,
			plan: "stack.s[\"a\"].component.thing[\"x\"]: delete, applyable, destroy mode\n  fake_resource.this: delete\n" +
				"stack.s[\"b\"].component.thing[\"x\"]: delete, applyable, destroy mode\n  fake_resource.this: delete\n",
		},
		"165_from_the_parent": {
			before: "stack \"o\" { source = \"./o\" }\n-- o/main.tfcomponent.hcl --\n" + strings.Replace(stacksOf(`"k"`), "./s",
				"../s", 1) + thingInStack,
			after: "stack \"o\" { source = \"./o\" }\n-- o/main.tfcomponent.hcl --\n" + strings.Replace(stacksOf(`"k"`), "./s", "../s", 1) +
				"removed {\n  from = stack.s[\"k\"].component.thing\n  source = \"../one\"\n}\n" + emptyStack,
			plan: "stack.o.stack.s[\"k\"].component.thing: delete, applyable, destroy mode\n  fake_resource.this: delete\n",
		},
		"166_from_inside": {
			before: stacksOf(`"a", "b"`) + thingInStack,
			after:  stacksOf(`"a", "b"`) + emptyStack + "removed {\n  from = component.thing\n  source = \"../one\"\n}\n",
			plan: "stack.s[\"a\"].component.thing: delete, applyable, destroy mode\n  fake_resource.this: delete\n" +
				"stack.s[\"b\"].component.thing: delete, applyable, destroy mode\n  fake_resource.this: delete\n",
		},
		"167_forgotten": {
			before:  "component \"thing\" {\n  inputs = { id = \"x\" }\n  source = \"./one\"\n}\n",
			after:   "removed {\n  from = component.thing\n  source = \"./one\"\n  lifecycle {\n    destroy = false\n  }\n}\n",
			plan:    "component.thing: forget, applyable, destroy mode\n  fake_resource.this: forget\n",
			diags:   "warning main.tfcomponent.hcl:8" + noLongerManaged,
			objects: []string{"x"},
		},
		"168_empty_component": {
			before: "component \"thing\" { source = \"./hollow\" }\n-- hollow/main.tf --\noutput \"out\" { value = 1 }\n",
			after:  "",
			plan:   "removed component.thing\n",
		},
		"169_forget_the_dependent": {
			before: keptAndDependent,
			after:  strings.Split(keptAndDependent, "component \"dependent\"")[0] + forgetDependent,
			plan: "component.dependent: forget, applyable, destroy mode, requires component.kept\n  fake_resource.this: forget\n" +
				"component.kept: no-op\n  fake_resource.this: no-op\n",
			diags:   "warning main.tfcomponent.hcl:15" + noLongerManaged,
			state:   "component.kept, required by component.dependent\n  fake_resource.this\n",
			objects: []string{"d-k", "k"},
		},
		"170_forget_both": {
			before: keptAndDependent,
			after:  forgetDependent + strings.ReplaceAll(forgetDependent, "dependent", "kept"),
			plan: "component.dependent: forget, applyable, destroy mode, requires component.kept\n  fake_resource.this: forget\n" +
				"component.kept: forget, applyable, destroy mode\n  fake_resource.this: forget\n",
			diags:   "warning main.tfcomponent.hcl:18" + noLongerManaged + "warning main.tfcomponent.hcl:9" + noLongerManaged,
			objects: []string{"d-k", "k"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stacktest.Real(t, inStacks(test.before))
			s.Converge()
			s.Write(inStacks(test.after))
			plan, diags := s.TryPlan(engine.Normal)
			same(t, "plan", test.plan, stacktest.PlanText(plan))
			same(t, "diagnostics", test.diags, stacktest.Summaries(diags))
			s.Apply(plan)
			same(t, "state", test.state, withoutValues(stacktest.StateText(s.State)))
			objects, err := s.Store.List()
			if diff := cmp.Diff(test.objects, objects, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("objects left (-want +got):\n%s\n%v", diff, err)
			}
			if again := s.Plan(engine.Normal); strings.Contains(stacktest.PlanText(again), "applyable") {
				t.Errorf("the next plan has more to do:\n%s", stacktest.PlanText(again))
			}
		})
	}
}

// withoutValues drops the inputs and outputs of components from the text of a state.
func withoutValues(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "  in ") && !strings.HasPrefix(line, "  out ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// The component with the credentials stays, and is read again before they are needed.
func TestRow171FreshCredentialsForARemoval(t *testing.T) {
	t.Parallel()
	const dependent = `
component "dependent" {
  source    = "./one"
  inputs    = { id = "d" }
  providers = { fake = provider.fake.secured }
}
`
	config := "-- main.tfcomponent.hcl --" + fakeHead + strings.Replace(rotated, "\n  source", fakeSlotLine+"\n  source", 1)
	s := stacktest.Real(t, config+dependent+fakeModules)
	put(t, s, "credentials", testprovider.ExpectedAuthentication)
	s.Converge()
	withOldCredentials(t, s)
	s.Write(config + `
removed {
  from      = component.dependent
  source    = "./one"
  providers = { fake = provider.fake.secured }
}
`)
	s.Apply(s.Plan(engine.Normal))
	same(t, "state", "component.credentials, required by component.dependent\n  data.fake_data.this\n",
		withoutValues(stacktest.StateText(s.State)))
	if ids, err := s.Store.List(); err != nil || !cmp.Equal(ids, []string{"credentials"}) {
		t.Errorf("objects left: %v, %v; want the credentials only", ids, err)
	}
}
