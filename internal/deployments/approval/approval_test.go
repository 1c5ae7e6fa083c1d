// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package approval_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/approval"
	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/deployments/deployeval"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// planOf returns a plan that creates and deletes objects of two components.
func planOf(t *testing.T, created, deleted int) *stackplan.Plan {
	t.Helper()
	plan := &stackplan.Plan{Applyable: true, Complete: true}
	for address, change := range map[string]struct {
		action engine.Action
		number int
	}{"component.a": {engine.ActionCreate, created}, `component.b["x"]`: {engine.ActionDelete, deleted}} {
		addr, err := stackaddrs.ParseAbsComponentInstance(address)
		if err != nil {
			t.Fatal(err)
		}
		component := &stackplan.Component{Addr: addr, Action: stackplan.NoOp}
		for range change.number {
			component.Action = stackplan.Update
			component.Changes = append(component.Changes, &engine.Change{Action: change.action})
		}
		plan.Components = append(plan.Components, component)
	}
	return plan
}

const groupsFile = `
deployment_group "all" {
  auto_approve_checks = [deployment_auto_approve.rule]
}
deployment "dev" {
  inputs           = {}
  deployment_group = deployment_group.all
}
deployment "prod" {
  inputs           = {}
  deployment_group = deployment_group.all
}
deployment "alone" {
  inputs = {}
}
locals {
  most = 2
}
`

// judge judges a plan by a rule with these checks, conditions and reasons in turn.
func judge(t *testing.T, plan *stackplan.Plan, facts approval.Facts, checks ...string) approval.Judgement {
	t.Helper()
	dir := t.TempDir()
	content := groupsFile + "deployment_auto_approve \"rule\" {\n"
	for i := 0; i < len(checks); i += 2 {
		content += fmt.Sprintf("  check {\n    condition = %s\n    reason    = %q\n  }\n", checks[i], checks[i+1])
	}
	if err := os.WriteFile(filepath.Join(dir, "x.tfdeploy.hcl"), []byte(content+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config, diags := deployconfig.Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return approval.Judge(t.Context(), config, deployeval.New(config, dir, nil), plan, facts)
}

// text says a judgement in one line.
func text(j approval.Judgement) string {
	if j.Approved() {
		return "approved by " + strings.Join(j.Rules, ", ")
	}
	var reasons []string
	for _, refusal := range j.Refusals {
		reason := refusal.Rule + ": " + refusal.Reason
		for _, diag := range refusal.Err {
			reason += " [" + diag.Summary + "]"
		}
		reasons = append(reasons, reason)
	}
	return "refused" + strings.Join(append([]string{""}, reasons...), "; ")
}

func TestJudge(t *testing.T) {
	dev := approval.Facts{Deployment: "dev"}
	warned := dev
	warned.Diagnostics = hcl.Diagnostics{{Severity: hcl.DiagWarning, Summary: "Careful", Detail: "It is hot."}}
	failed := dev
	failed.Diagnostics = hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Broken"}}
	again := dev
	again.Replans = 1

	for name, test := range map[string]struct {
		created, deleted int
		facts            approval.Facts
		checks           []string
		want             string
	}{
		"holds": {2, 0, dev, []string{"context.plan.changes.remove == 0", "no"}, "approved by rule"},
		"does not": {2, 1, dev, []string{
			"context.plan.changes.remove == 0",
			"${context.plan.changes.remove} objects are destroyed.",
		}, "refused; rule: 1 objects are destroyed."},
		"one of two": {
			2, 1, dev,
			[]string{"context.plan.changes.add < 3", "adds", "context.plan.changes.total < local.most", "total"},
			"refused; rule: total",
		},
		"both refuse": {2, 1, dev, []string{"false", "first", "false", "second"}, "refused; rule: first; rule: second"},
		"component": {
			2, 0, dev,
			[]string{
				`context.plan.component_changes["component.a"].add == 2 && context.plan.component_changes["component.b[\"x\"]"].total == 0`,
				"no",
			},
			"approved by rule",
		},
		"no such component": {2, 0, dev, []string{`context.plan.component_changes["component.c"].add == 0`, "no"}, "refused; rule: no " +
			"[Invalid index]"},
		"deployment": {2, 0, dev, []string{"context.plan.deployment == deployment.dev", "not dev"}, "approved by rule"},
		"another deployment": {
			2, 0,
			approval.Facts{Deployment: "prod"},
			[]string{"context.plan.deployment == deployment.dev", "not dev"},
			"refused; rule: not dev",
		},
		"name of deployment": {2, 0, dev, []string{`context.plan.deployment.deployment_name == "dev"`, "not dev"}, "approved by rule"},
		"null": {2, 0, dev, []string{"context.plan.changes.add > 0 ? null : true", "null"}, "refused; rule: null [Invalid " +
			"condition of rule]"},
		"no truth value": {2, 0, dev, []string{"context.plan.mode", "text"}, "refused; rule: text [Invalid condition of rule]"},
		"text":           {2, 0, dev, []string{`"true"`, "text"}, "approved by rule"},
		"mode": {
			2, 0, dev,
			[]string{`context.plan.mode == "normal" && context.plan.applyable && context.operation == "plan" && context.success`, "no"},
			"approved by rule",
		},
		"warnings": {2, 0, warned, []string{"length(context.warnings) == 0 && length(context.errors) == 0", "${[for w in " +
			"context.warnings : w.detail][0]}"}, "refused; rule: It is hot."},
		"replans": {
			2, 0, again,
			[]string{"context.plan.replans == 0", "round ${context.plan.replans + 1}"},
			"refused; rule: round 2",
		},
		"without rules":        {2, 0, approval.Facts{Deployment: "alone"}, []string{"true", "no"}, "refused"},
		"without changes":      {0, 0, approval.Facts{Deployment: "alone"}, []string{"false", "no"}, "approved by empty_plan"},
		"without changes, too": {0, 0, dev, []string{"false", "no"}, "approved by empty_plan"},
		"errors":               {0, 0, failed, []string{"true", "no"}, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, text(judge(t, planOf(t, test.created, test.deleted), test.facts, test.checks...))); diff != "" {
				t.Errorf("judgement (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOtherPlans(t *testing.T) {
	never := []string{"context.plan.mode == \"destroy\"", "not destroyed"}
	plan := planOf(t, 0, 1)
	plan.Mode = engine.Destroy
	if got := text(judge(t, plan, approval.Facts{Deployment: "dev"}, never...)); got != "approved by rule" {
		t.Errorf("of a destruction: %s", got)
	}
	plan = planOf(t, 0, 0)
	plan.Applyable = false
	if got := text(judge(t, plan, approval.Facts{Deployment: "dev"}, "true", "no")); got != "refused" {
		t.Errorf("of a plan that cannot be applied: %s", got)
	}
	if got := text(approval.Judge(t.Context(), nil, nil, planOf(t, 1, 0), approval.Facts{})); got != "refused" {
		t.Errorf("without deployment files: %s", got)
	}
	if got := text(approval.Judge(t.Context(), nil, nil, planOf(t, 0, 0), approval.Facts{})); got != "approved by empty_plan" {
		t.Errorf("without deployment files, of a plan without changes: %s", got)
	}
}
