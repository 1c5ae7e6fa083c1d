// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// The results of one phase are not taken for another, though the configuration is the same object.
func TestRow229PhasesShareNothing(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "v" { type = string }
locals {
  v   = "(${var.v})"
  now = timestamp()
}
component "c" {
  source = "./echo"
  inputs = { in = local.v }
}
output "v" {
  type  = string
  value = component.c.out
}
output "now" {
  type  = string
  value = local.now
}
`+echoModule)
	config, diags := stackconfig.Load(s.Dir)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	opts := stackruntime.Options{Config: config, Session: s.Open()}
	planWith := func(v string) string {
		plan, diags := stackruntime.Plan(t.Context(), stackruntime.PlanRequest{
			Options: opts, Prior: s.State, Inputs: map[string]cty.Value{"v": cty.StringVal(v)},
		})
		if len(diags) > 0 {
			t.Fatal(stacktest.Explain(diags))
		}
		text := stacktest.ValueText(plan.Inputs["v"].After) + " " + plannedInputs(t, plan, "component.c")
		if !strings.HasPrefix(v, "apply") {
			return text + stacktest.ValueText(plan.Outputs["now"].After)
		}
		result, diags := stackruntime.Apply(t.Context(), stackruntime.ApplyRequest{Options: opts, Plan: plan, Prior: s.State})
		if len(diags) > 0 {
			t.Fatal(stacktest.Explain(diags))
		}
		s.State = result.State
		if !s.State.Outputs["now"].IsKnown() {
			t.Error("the time is not known after apply")
		}
		return text + stacktest.ValueText(s.State.Outputs["v"])
	}
	if diags := stackruntime.Validate(t.Context(), opts); len(diags) > 0 {
		t.Error(stacktest.Explain(diags))
	}
	for _, test := range []struct{ v, want string }{
		{"first", "\"first\" in = \"(first)\"\n(unknown)"},
		{"apply second", "\"apply second\" in = \"(apply second)\"\n\"(apply second)\""},
		{"third", "\"third\" in = \"(third)\"\n(unknown)"},
		{"apply fourth", "\"apply fourth\" in = \"(apply fourth)\"\n\"(apply fourth)\""},
	} {
		if got := planWith(test.v); got != test.want {
			t.Errorf("plan with %s: got %s, want %s", test.v, got, test.want)
		}
	}
	inspector := stackruntime.Inspect(stackruntime.InspectRequest{
		Options: opts,
		State:   s.State,
		Inputs:  map[string]cty.Value{"v": cty.StringVal("inspected")},
	})
	e, diags := hclsyntax.ParseExpression([]byte("[local.v, component.c.out, local.now]"), "<expression>", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	got, diags := inspector.EvalExpr(t.Context(), e)
	if want := `["(inspected)", "(apply fourth)", (unknown)]`; stacktest.ValueText(got) != want || len(diags) > 0 {
		t.Errorf("inspect: got %s, %v, want %s", stacktest.ValueText(got), diags, want)
	}
}
