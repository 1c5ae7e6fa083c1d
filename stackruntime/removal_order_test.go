// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

const pickyModule = `
-- picky/main.tf --
variable "in" { type = any }
variable "fails" { type = number }
resource "terraform_data" "this" {
  input = [var.in, var.fails]
  lifecycle {
    postcondition {
      condition     = self.output[1] == 0
      error_message = "It shall fail."
    }
  }
}
-- sub/main.tfcomponent.hcl --
component "base" { source = "../echo" }
output "out" {
  type  = string
  value = component.base.out
}
-- inner/main.tfcomponent.hcl --
variable "fails" { type = number }
component "base" { source = "../echo" }
component "user" {
  source = "../picky"
  inputs = { in = component.base.out, fails = var.fails }
}
` + echoModule

const failsVariable = `
variable "fails" {
  type    = number
  default = 0
}
`

func userOf(value string) string {
	return failsVariable + "component \"user\" {\n  source = \"./picky\"\n  inputs = { in = " + value + ", fails = var.fails }\n}\n"
}

// A component that is removed, in whichever way, goes after its users were changed, and stays if
// that fails.
func TestRemovedStaysUntilNothingUsesIt(t *testing.T) {
	const keyed = "component \"base\" {\n  for_each = toset([KEYS])\n  source = \"./echo\"\n  inputs = { in = each.key }\n}\n"
	const stacks = "stack \"s\" {\n  for_each = toset([KEYS])\n  source = \"./sub\"\n}\n"
	with := func(block, keys string) string { return strings.Replace(block, "KEYS", keys, 1) }
	const inner = "stack \"s\" {\n  source = \"./inner\"\n  inputs = { fails = var.fails }\n}\n"
	for name, test := range map[string]struct {
		before, after string
		sub           string   // of the stack "inner" afterwards
		gone          []string // in the order in which it has to go
	}{
		"a key of a component": {
			before: with(keyed, `"a", "b"`) + userOf("component.base"),
			after:  with(keyed, `"a"`) + userOf("component.base") + "removed {\n  from = component.base[\"b\"]\n  source = \"./echo\"\n}\n",
			gone:   []string{`component.base["b"]`},
		},
		"all of a component": {
			before: with(keyed, `"a"`) + userOf("component.base"),
			after:  userOf("null") + "removed {\n  from = component.base[\"a\"]\n  source = \"./echo\"\n}\n",
			gone:   []string{`component.base["a"]`},
		},
		"a key of a stack": {
			before: with(stacks, `"a", "b"`) + userOf("stack.s"),
			after:  with(stacks, `"a"`) + userOf("stack.s") + "removed {\n  from = stack.s[\"b\"]\n  source = \"./sub\"\n}\n",
			gone:   []string{`stack.s["b"].component.base`},
		},
		"all of a stack": {
			before: with(stacks, `"b"`) + userOf("stack.s"),
			after:  userOf("null") + "removed {\n  from = stack.s[\"b\"]\n  source = \"./sub\"\n}\n",
			gone:   []string{`stack.s["b"].component.base`},
		},
		"inside an embedded stack": {
			before: failsVariable + inner,
			after:  failsVariable + inner,
			sub: "variable \"fails\" { type = number }\nremoved {\n  from = component.base\n  source = \"../echo\"\n}\n" +
				"component \"user\" {\n  source = \"../picky\"\n  inputs = { in = null, fails = var.fails }\n}\n",
			gone: []string{"stack.s.component.base"},
		},
		"inside an embedded stack, from outside": {
			before: failsVariable + inner,
			after:  failsVariable + inner + "removed {\n  from = stack.s.component.base\n  source = \"./echo\"\n}\n",
			sub: "variable \"fails\" { type = number }\ncomponent \"user\" {\n  source = \"../picky\"\n  inputs = { in = null, fails " +
				"= var.fails }\n}\n",
			gone: []string{"stack.s.component.base"},
		},
		"a chain": {
			before: with(stacks, `"b"`) + "component \"middle\" {\n  source = \"./echo\"\n  inputs = { in = stack.s }\n}\n" +
				userOf("component.middle.out"),
			after: userOf("null") + "removed {\n  from = stack.s[\"b\"]\n  source = \"./sub\"\n}\n" +
				"removed {\n  from = component.middle\n  source = \"./echo\"\n}\n",
			gone: []string{"component.middle", `stack.s["b"].component.base`},
		},
		"what now requires what it used": { // the component of the same name that stays: there is no cycle
			before: with(keyed, `"b"`) + userOf("component.base"),
			after: "component \"base\" {\n  for_each = toset([\"a\"])\n  source = \"./echo\"\n  depends_on = [component.user]\n}\n" +
				userOf("null") +
				"removed {\n  from = component.base[\"b\"]\n  source = \"./echo\"\n}\n",
			gone: []string{`component.base["b"]`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "-- main.tfcomponent.hcl --\n"+test.before+pickyModule)
			w.Converge()
			w.rewrite("main.tfcomponent.hcl", test.after)
			if test.sub != "" {
				w.rewrite("inner/main.tfcomponent.hcl", test.sub)
			}

			for _, fails := range []int64{1, 2} { // the record of a failed apply must not forget it either
				w.Inputs["fails"] = cty.NumberIntVal(fails)
				if _, diags := w.TryApply(w.Plan(engine.Normal)); !strings.Contains(describe(diags), "It shall fail.") {
					t.Fatalf("apply: %s; want the failed condition", describe(diags))
				}
				for _, addr := range test.gone {
					if record := w.State.Components[component(t, addr)]; record == nil ||
						!strings.Contains(string(record.Module), "terraform_data") {
						t.Errorf("%s is gone though what used it was not changed", addr)
					}
				}
			}

			w.Inputs["fails"] = cty.NumberIntVal(0)
			w.engine.Forget()
			w.Apply(w.Plan(engine.Normal))
			order := applyOrder(w)
			var got []string
			for _, addr := range order {
				if strings.HasSuffix(addr, "component.user") || slices.Contains(test.gone, addr) {
					got = append(got, addr)
				}
			}
			if len(got) == 0 || !strings.HasSuffix(got[0], "component.user") {
				t.Fatalf("order of applies: %v, want that of the user first", order)
			}
			if diff := cmp.Diff(test.gone, got[1:]); diff != "" {
				t.Errorf("order of removals (-want +got):\n%s", diff)
			}
		})
	}
}

// A destroy with a removed block destroys first the users of the stack that it names.
func TestDestroyWithRemovedStack(t *testing.T) {
	w := newWorld(t, "-- main.tfcomponent.hcl --\nstack \"s\" { source = \"./sub\" }\n"+userOf("stack.s.out")+pickyModule)
	w.Converge()
	w.rewrite("main.tfcomponent.hcl", userOf("null")+"removed {\n  from = stack.s\n  source = \"./sub\"\n}\n")
	w.engine.Forget()
	w.Apply(w.Plan(engine.Destroy))
	if diff := cmp.Diff([]string{"component.user", "stack.s.component.base"}, applyOrder(w)); diff != "" {
		t.Errorf("order of applies (-want +got):\n%s", diff)
	}
}

// A forgotten component stays recorded while its user fails, so that a later apply still knows
// about it.
func TestForgottenStaysUntilNothingUsesIt(t *testing.T) {
	w := newWorld(t, "-- main.tfcomponent.hcl --\nstack \"s\" { source = \"./sub\" }\n"+userOf("stack.s.out")+pickyModule)
	w.Converge()
	w.rewrite(
		"main.tfcomponent.hcl",
		userOf("null")+"removed {\n  from = stack.s\n  source = \"./sub\"\n  lifecycle {\n    destroy = false\n  }\n}\n",
	)
	w.Inputs["fails"] = cty.NumberIntVal(1)
	if _, diags := w.TryApply(w.Plan(engine.Normal)); !strings.Contains(describe(diags), "It shall fail.") {
		t.Fatalf("apply: %s; want the failed condition", describe(diags))
	}
	if w.State.Components[component(t, "stack.s.component.base")] == nil {
		t.Error("it is forgotten though what used it was not changed")
	}
	w.Inputs["fails"] = cty.NumberIntVal(0)
	w.Apply(w.Plan(engine.Normal))
	if diff := cmp.Diff([]string{"component.user"}, left(w.State)); diff != "" {
		t.Errorf("components in the state (-want +got):\n%s", diff)
	}
}
