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

// Only values of outputs are new: they are recorded, though the engine has nothing to do.
func TestQuirkB22OutputsAreRecordedWithoutChanges(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, `
-- main.tfcomponent.hcl --
variable "word" { type = string }
component "c" {
  source = "./mod"
  inputs = { word = var.word }
}
-- mod/main.tf --
variable "word" { type = string }
resource "terraform_data" "same" {}
output "shout" { value = upper(var.word) }
`)
	s.Inputs["word"] = cty.StringVal("one")
	s.Converge()
	s.Inputs["word"] = cty.StringVal("two")
	plan := s.Plan(engine.Normal)
	if c := plan.Components[0]; c.Action != stackplan.Update || !c.Applyable {
		t.Errorf("the component has action %s, applyable %v; want an update that can be applied", c.Action, c.Applyable)
	}
	s.Apply(plan)
	sameState(t, s, "input word = \"two\"\ncomponent.c\n  terraform_data.same\n  in word = \"two\"\n  out shout = \"TWO\"\n")
}

func TestQuirkB24OutputsOfRemovedComponent(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t,
		"-- main.tfcomponent.hcl --\ncomponent \"c\" {\n  source = \"./echo\"\n  inputs = { in = \"x\" }\n}\n"+echoModule)
	s.Converge()
	s.Write("-- main.tfcomponent.hcl --\nremoved {\n  from   = component.c\n  source = \"./echo\"\n}\n")
	plan := s.Plan(engine.Normal)
	if got := stacktest.ValuesText(plan.Components[0].Outputs); got != "out = \"x\"\n" {
		t.Errorf("outputs of the removed component: %s, want those of the state", got)
	}
}

// twoSteps is a component that fails on demand, with one that depends on it.
const twoSteps = `
-- main.tfcomponent.hcl --
variable "word" { type = string }
component "first" {
  source = "./mod"
  inputs = { word = var.word }
}
component "second" {
  source = "./echo"
  inputs = { in = component.first.word }
}
-- mod/main.tf --
variable "word" { type = string }
resource "terraform_data" "x" {
  input = var.word
  lifecycle {
    postcondition {
      condition     = self.output != "bad"
      error_message = "That is bad."
    }
  }
}
output "word" { value = terraform_data.x.output }
` + echoModule

func TestQuirkB25SkippedComponentKeepsOutputs(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, twoSteps)
	s.Inputs["word"] = cty.StringVal("good")
	s.Converge()
	s.Inputs["word"] = cty.StringVal("bad")
	_, diags := s.TryApply(s.Plan(engine.Normal))
	if !diags.HasErrors() {
		t.Fatal("the apply has not failed")
	}
	record := s.State.Components[component(t, "component.second")]
	if got := stacktest.ValuesText(record.Outputs) + stacktest.ValuesText(record.Inputs); got != "out = \"good\"\nin = \"good\"\n" {
		t.Errorf("record of the skipped component: %s, want the values of the last apply", got)
	}
}

func TestTrapC13ApplyableUnlessErrors(t *testing.T) {
	t.Parallel()
	const unknown = `
-- main.tfcomponent.hcl --
variable "names" { type = set(string) }
component "c" {
  for_each = var.names
  source   = "./echo"
}
` + echoModule
	for name, test := range map[string]struct {
		config    string
		names     cty.Value
		applyable bool
	}{
		"empty stack":    {"-- main.tfcomponent.hcl --\n", cty.NilVal, true},
		"nothing to do":  {unknown, cty.SetValEmpty(cty.String), true},
		"only deferrals": {unknown, cty.UnknownVal(cty.Set(cty.String)), true},
		"deferral and error": {
			unknown + "-- b.tfcomponent.hcl --\nlocals {\n  bad = element([], 0)\n}\n",
			cty.UnknownVal(cty.Set(cty.String)),
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stacktest.InMemory(t, test.config)
			if test.names != cty.NilVal {
				s.Inputs["names"] = test.names
			}
			plan, diags := s.TryPlan(engine.Normal)
			if plan.Applyable != test.applyable || diags.HasErrors() == test.applyable {
				t.Errorf("applyable %v, want %v; diagnostics: %s", plan.Applyable, test.applyable, stacktest.Explain(diags))
			}
		})
	}
}

func TestTrapC15Orphans(t *testing.T) {
	t.Parallel()
	const config = `
-- main.tfcomponent.hcl --
variable "full" { type = set(string) }
variable "empty" { type = set(string) }
component "full" {
  for_each = var.full
  source   = "./echo"
}
component "empty" {
  for_each = var.empty
  source   = "./pass"
}
` + passModule + echoModule
	start := func(t *testing.T) *stacktest.Stack {
		t.Helper()
		s := stacktest.InMemory(t, config)
		s.Inputs["full"], s.Inputs["empty"] = list("a"), list("a")
		s.Converge()
		return s
	}
	t.Run("empty ones vanish", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		s.Inputs["empty"] = cty.SetValEmpty(cty.String)
		plan, diags := s.TryPlan(engine.Normal)
		if got := stacktest.PlanText(plan); len(diags) > 0 || !strings.Contains(got, "removed component.empty[\"a\"]\n") {
			t.Errorf("plan:\n%s%swant the orphan removed without a word", got, stacktest.Explain(diags))
		}
		s.Apply(plan)
		if _, left := s.State.Components[component(t, `component.empty["a"]`)]; left {
			t.Error("the orphan is still in the state")
		}
	})
	t.Run("others are errors", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		s.Inputs["full"] = cty.SetValEmpty(cty.String)
		planFails(t, s, "error -: Component instance left over\n")
	})
	t.Run("unknown sets may have them", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		s.LeaveUnknown = true
		s.Inputs["full"], s.Inputs["empty"] = cty.UnknownVal(cty.Set(cty.String)), cty.UnknownVal(cty.Set(cty.String))
		before := left(s.State)
		s.Converge()
		if diff := cmp.Diff(before, left(s.State)); diff != "" {
			t.Errorf("components in the state (-before +after):\n%s", diff)
		}
	})
}

func TestTrapC17RecordsOfAllInstances(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, twoSteps+`
-- more.tfcomponent.hcl --
variable "names" { type = set(string) }
component "wildcard" {
  for_each = var.names
  source   = "./echo"
}
component "deferred" {
  source = "./echo"
  inputs = { in = component.wildcard }
}
`)
	s.LeaveUnknown = true
	s.Inputs["word"], s.Inputs["names"] = cty.StringVal("bad"), cty.UnknownVal(cty.Set(cty.String))
	_, diags := s.TryApply(s.Plan(engine.Normal))
	if got, want := summaries(diags), []string{"Resource postcondition failed"}; !cmp.Equal(got, want) {
		t.Errorf("diagnostics %v, want %v", got, want)
	}
	want := []string{"component.deferred", "component.first", "component.second"} // deferred, failed, skipped
	if diff := cmp.Diff(want, left(s.State)); diff != "" {
		t.Errorf("recorded components (-want +got):\n%s", diff)
	}
}
