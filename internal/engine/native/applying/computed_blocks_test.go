// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
)

const ruled = `
-- main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "fake_ruled" "chosen" {
  name = "chosen"
}
resource "fake_ruled" "written" {
  name = "written"
  rule {
    port = 2
  }
}
resource "fake_ruled" "ignoring" {
  name = "ignoring"
  lifecycle {
    ignore_changes = all
  }
}
output "ports" {
  value = [fake_ruled.chosen.rule[*].port, fake_ruled.written.rule[*].port, fake_ruled.ignoring.rule[0].port]
}
`

// withRules returns a component whose fake provider chooses two rules while it applies, where the
// configuration has none.
func withRules(t *testing.T) *nativetest.Component {
	t.Helper()
	c := nativetest.New(t, ruled)
	managed := c.Fake.Schema().Managed
	managed["fake_ruled"] = &schema.Schema{Block: &schema.Block{
		Attributes: managed["fake_thing"].Block.Attributes,
		Blocks: []*schema.NestedBlock{{Name: "rule", Nesting: schema.List, Block: &schema.Block{
			Computed: true, Attributes: []*schema.Attribute{{Name: "port", Type: cty.Number, Optional: true, Computed: true}},
		}}},
	}}
	port := func(n int64) cty.Value { return cty.ObjectVal(map[string]cty.Value{"port": cty.NumberIntVal(n)}) }
	c.Fake.OnApply = func(req provider.ApplyRequest, response provider.ApplyResponse) provider.ApplyResponse {
		values := response.New.AsValueMap()
		if !req.Planned.GetAttr("rule").IsKnown() {
			values["rule"] = cty.ListVal([]cty.Value{port(80), port(443)})
		}
		response.New = cty.ObjectVal(values)
		return response
	}
	return c
}

// A provider chooses the blocks of a computed type of which the configuration has none.
func TestComputedBlocks(t *testing.T) {
	c := withRules(t)
	plan := c.Plan(t, nil)
	if plan.Diags.HasErrors() {
		t.Fatal(plan.Diags)
	}
	for _, change := range plan.Changes {
		if known := change.After.GetAttr("rule").IsKnown(); known != (change.Addr.Resource.Name == "written") {
			t.Errorf("the rules of %s are planned as %#v", change.Addr, change.After.GetAttr("rule"))
		}
	}
	applied := c.Apply(t, plan, nil)
	if applied.Diags.HasErrors() {
		t.Fatal(applied.Diags)
	}
	if got, want := nativetest.ShowValue(applied.Outputs["ports"]), "[[80, 443], [2], 80]"; got != want {
		t.Errorf("the ports are %s, want %s", got, want)
	}
	if again := c.Plan(t, nil); again.Diags.HasErrors() || again.Applyable {
		t.Errorf("the second plan:\n%s", again.Show())
	}
}

// Blocks that a provider chooses are never null.
func TestComputedBlocksThatAreNull(t *testing.T) {
	c := withRules(t)
	c.Fake.OnPlan = func(req provider.PlanRequest, response provider.PlanResponse) provider.PlanResponse {
		values := response.Planned.AsValueMap()
		values["rule"] = req.Config.GetAttr("rule")
		response.Planned = cty.ObjectVal(values)
		return response
	}
	plan := c.Plan(t, nil)
	if nulls(plan.Diags) != 2 {
		t.Errorf("the plan:\n%s", plan.Show())
	}
	c = withRules(t)
	c.Fake.OnApply = func(req provider.ApplyRequest, response provider.ApplyResponse) provider.ApplyResponse {
		values := response.New.AsValueMap()
		values["rule"] = req.Config.GetAttr("rule")
		response.New = cty.ObjectVal(values)
		return response
	}
	applied := c.Apply(t, c.Plan(t, nil), nil)
	if nulls(applied.Diags) != 2 {
		t.Errorf("the result:\n%s", applied.Show(t))
	}
}

func nulls(diags hcl.Diagnostics) (count int) {
	for _, diag := range diags {
		count += strings.Count(diag.Detail, "blocks of this kind are never null")
	}
	return count
}
