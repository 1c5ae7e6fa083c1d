// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// boxModules are a module with one resource, and one with nothing but an output.
const boxModules = `
-- box/main.tf --
variable "in" {
  type    = string
  default = ""
}
resource "terraform_data" "this" { input = var.in }
output "out" { value = terraform_data.this.output }
-- hollow/main.tf --
output "out" { value = "nothing" }
`

// removalCase is a change of a configuration, with the outcome of the next plan.
type removalCase struct {
	before string // archives that begin in main.tfcomponent.hcl
	after  string
	plan   string // without inputs
	diags  string
	detail string // is part of the detail of every error
}

const oneBox = `
component "box" { source = "./box" }
`

const boxesAB = `
component "box" {
  for_each = toset(["a", "b"])
  source   = "./box"
}
`

const boxesA = `
component "box" {
  for_each = toset(["a"])
  source   = "./box"
}
`

// stackOfBox embeds a stack with one component for each key.
func stackOfBox(keys string) string {
	return "stack \"s\" {\n  for_each = toset([" + keys + "])\n  source   = \"./s\"\n}\n"
}

const boxStack = `
-- s/main.tfcomponent.hcl --
component "box" { source = "../box" }
`

var removalCases = map[string]removalCase{
	"113_key_of_the_component": {
		before: "stack \"s\" { source = \"./s\" }\n-- s/main.tfcomponent.hcl --\n" + strings.ReplaceAll(boxesA, "./box", "../box"),
		after: `
stack "s" { source = "./s" }
removed {
  from   = stack.s.component.box["a"]
  source = "./box"
}
`,
		plan:   "not applyable\nincomplete\nstack.s.component.box[\"a\"]: no-op\n  terraform_data.this: no-op\n",
		diags:  "error main.tfcomponent.hcl:4: Instance both declared and removed\n",
		detail: `stack.s.component.box["a"] is still produced by the block at s/main.tfcomponent.hcl:2`,
	},
	"113_key_of_the_stack": {
		before: stackOfBox(`"a"`) + boxStack,
		after: stackOfBox(`"a"`) + `removed {
  from   = stack.s["a"].component.box
  source = "./box"
}
`,
		plan:   "not applyable\nincomplete\nstack.s[\"a\"].component.box: no-op\n  terraform_data.this: no-op\n",
		diags:  "error main.tfcomponent.hcl:6: Instance both declared and removed\n",
		detail: `stack.s["a"].component.box is still produced by the block at s/main.tfcomponent.hcl:1`,
	},
	"114_stack_that_never_was": {
		before: stackOfBox("") + boxStack,
		after: stackOfBox("") + `removed {
  for_each = toset(["never"])
  from     = stack.s[each.key]
  source   = "./s"
}
`,
	},
	"115_stack_without_a_block": {
		before: stackOfBox(`"a"`) + boxStack,
		after:  oneBox,
		plan:   "not applyable\nincomplete\ncomponent.box: create, applyable\n  terraform_data.this: create\n",
		diags:  "error -: Embedded stack left over\n",
		detail: `stack.s["a"].component.box`,
	},
	"116_stack_declared_and_removed": {
		before: stackOfBox(`"a"`) + boxStack,
		after: stackOfBox(`"a"`) + `removed {
  from   = stack.s["a"]
  source = "./s"
}
`,
		plan:   "not applyable\nincomplete\nstack.s[\"a\"].component.box: no-op\n  terraform_data.this: no-op\n",
		diags:  "error main.tfcomponent.hcl:6: Instance both declared and removed\n",
		detail: `stack.s["a"] is still produced by the block at main.tfcomponent.hcl:1`,
	},
	"117_nested_stack_declared_and_removed": {
		before: "stack \"o\" { source = \"./o\" }\n-- o/main.tfcomponent.hcl --\n" + strings.ReplaceAll(stackOfBox(`"a"`),
			"./s", "../s") + boxStack,
		after: `
stack "o" { source = "./o" }
removed {
  from   = stack.o.stack.s["a"]
  source = "./s"
}
`,
		plan:   "not applyable\nincomplete\nstack.o.stack.s[\"a\"].component.box: no-op\n  terraform_data.this: no-op\n",
		diags:  "error main.tfcomponent.hcl:4: Instance both declared and removed\n",
		detail: `stack.o.stack.s["a"] is still produced by the block at o/main.tfcomponent.hcl:1`,
	},
	"118_stack_and_component_in_it_removed": {
		before: stackOfBox(`"a"`) + boxStack,
		after: `
removed {
  from   = stack.s["a"]
  source = "./s"
}
removed {
  from   = stack.s["a"].component.box
  source = "./box"
}
`,
		plan:   "not applyable\nincomplete\nstack.s[\"a\"].component.box: delete, applyable, destroy mode\n  terraform_data.this: delete\n",
		diags:  "error main.tfcomponent.hcl:7: Instance both declared and removed\n",
		detail: `stack.s["a"].component.box is still produced by the block at s/main.tfcomponent.hcl:1`,
	},
	"119_component_in_a_missing_stack": {
		before: stackOfBox(`"a", "b"`) + boxStack,
		after: stackOfBox(`"b"`) + `removed {
  from   = stack.s["a"].component.box
  source = "./box"
}
`,
		plan:   "not applyable\nincomplete\nstack.s[\"b\"].component.box: no-op\n  terraform_data.this: no-op\n",
		diags:  "error main.tfcomponent.hcl:6: Removal target lies in a missing stack\n",
		detail: `produces stack.s["a"] any more`,
	},
	"120_stack_in_a_missing_stack": {
		before: stackOfBox(`"a"`) + `
-- s/main.tfcomponent.hcl --
stack "inner" {
  for_each = toset(["x"])
  source   = "../inner"
}
-- inner/main.tfcomponent.hcl --
component "box" { source = "../box" }
`,
		after: stackOfBox("") + `removed {
  from   = stack.s["a"].stack.inner["x"]
  source = "./inner"
}
`,
		plan:  "not applyable\nincomplete\n",
		diags: "error main.tfcomponent.hcl:6: Removal target lies in a missing stack\n",
		detail: `stack.s["a"].stack.inner["x"].component.box exists in the state, ` +
			`but nothing in the configuration produces stack.s["a"] any more`,
	},
	"121_component_in_a_stack_declared_nowhere": {
		before: "stack \"s\" { source = \"./s\" }\n" + boxStack,
		after: `
removed {
  from   = stack.s.component.box
  source = "./box"
}
`,
		plan:   "not applyable\nincomplete\n",
		diags:  "error main.tfcomponent.hcl:3: Removal target lies in a missing stack\n",
		detail: "stack.s.component.box",
	},
	"123_stack_with_a_component_never_made": {
		before: stackOfBox(`"a"`) + boxStack,
		after: `
removed {
  from   = stack.s["a"]
  source = "./s"
}
-- s/main.tfcomponent.hcl --
component "box" { source = "../box" }
component "other" { source = "../box" }
`,
		plan: "stack.s[\"a\"].component.box: delete, applyable, destroy mode\n  terraform_data.this: delete\n" +
			"stack.s[\"a\"].component.other: delete, applyable, destroy mode\n",
	},
	"128_never_there": {
		after: `
removed {
  from   = component.box
  source = "./box"
}
`,
	},
	"129_empty_left_over": {
		before: oneBox + `
component "hollow" {
  for_each = toset(["x"])
  source   = "./hollow"
}
`,
		after: oneBox + `
component "hollow" {
  for_each = toset([])
  source   = "./hollow"
}
removed {
  from   = component.hollow["y"]
  source = "./hollow"
}
`,
		plan: "component.box: no-op\n  terraform_data.this: no-op\nremoved component.hollow[\"x\"]\n",
	},
	"130_left_over": {
		before: boxesAB,
		after:  strings.Replace(boxesA, `"a"`, `"a", "c"`, 1),
		plan: "not applyable\nincomplete\ncomponent.box[\"a\"]: no-op\n  terraform_data.this: no-op\n" +
			"component.box[\"c\"]: create, applyable\n  terraform_data.this: create\n",
		diags:  "error -: Component instance left over\n",
		detail: `component.box["b"]`,
	},
	"131_declared_and_removed": {
		before: boxesAB,
		after: boxesAB + `removed {
  for_each = toset(["b"])
  from     = component.box[each.key]
  source   = "./box"
}
`,
		plan: "not applyable\nincomplete\ncomponent.box[\"a\"]: no-op\n  terraform_data.this: no-op\n" +
			"component.box[\"b\"]: no-op\n  terraform_data.this: no-op\n",
		diags:  "error main.tfcomponent.hcl:8: Instance both declared and removed\n",
		detail: `component.box["b"] is still produced by the block at main.tfcomponent.hcl:2`,
	},
	"131_declared_and_removed_before_it_is_made": {
		after: boxesA + `removed {
  from   = component.box["a"]
  source = "./box"
}
`,
		plan:   "not applyable\nincomplete\ncomponent.box[\"a\"]: create, applyable\n  terraform_data.this: create\n",
		diags:  "error main.tfcomponent.hcl:7: Instance both declared and removed\n",
		detail: `component.box["a"]`,
	},
	"132_two_blocks": {
		before: boxesAB,
		after: `
removed {
  from   = component.box["a"]
  source = "./box"
}
removed {
  for_each = toset(["b"])
  from     = component.box[each.key]
  source   = "./box"
}
`,
		plan: "component.box[\"a\"]: delete, applyable, destroy mode\n  terraform_data.this: delete\n" +
			"component.box[\"b\"]: delete, applyable, destroy mode\n  terraform_data.this: delete\n",
	},
}

func TestRowsRemovalAtPlan(t *testing.T) {
	const variable = "-- variable.tfcomponent.hcl --\nvariable \"v\" { type = string }\n"
	for name, test := range removalCases {
		t.Run(name, func(t *testing.T) {
			s := stacktest.InMemory(t, variable+"-- main.tfcomponent.hcl --\n"+test.before+boxModules)
			s.Inputs["v"] = cty.StringVal("1")
			s.Converge()
			s.Inputs["v"] = cty.StringVal("2")
			s.Write("-- main.tfcomponent.hcl --\n" + test.after)
			same(t, "validate", "", stacktest.Summaries(s.Validate()))
			plan, diags := s.TryPlan(engine.Normal)
			const input = "input v: update \"2\"\n" // is announced whatever else is wrong
			got := stacktest.PlanText(plan)
			if !strings.Contains(got, input) {
				t.Errorf("plan:\n%s\nwant the change of the input", got)
			}
			same(t, "plan", test.plan, strings.Replace(got, input, "", 1))
			same(t, "diagnostics", test.diags, stacktest.Summaries(diags))
			for _, diag := range diags {
				if !strings.Contains(diag.Detail, test.detail) {
					t.Errorf("the detail has no %q: %s", test.detail, diag.Detail)
				}
			}
		})
	}
}

// A stack in a stack that is declared nowhere has no configuration, which is found when it is
// loaded.
func TestRow121StackInAStackDeclaredNowhere(t *testing.T) {
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
removed {
  from   = stack.gone.stack.s
  source = "./s"
}
`+boxStack+boxModules)
	same(t, "validate", "error main.tfcomponent.hcl:2: Removal target lies in a missing stack\n", stacktest.Summaries(s.Validate()))
}
