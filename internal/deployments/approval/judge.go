// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package approval

import (
	"context"
	"slices"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/deployments/deployeval"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// EmptyPlan is the name of the built-in rule, which applies to every stack (rule A1).
const EmptyPlan = "empty_plan"

// Judgement is the outcome of the rules for a plan.
type Judgement struct {
	Rules    []string             // that approve the plan; none if it is not approved
	Refusals []deployeval.Refusal // of rules that do not; none where there are no rules
}

// Approved reports whether nobody needs to be asked.
func (j Judgement) Approved() bool { return len(j.Rules) > 0 }

// Judge says whether the rules for a deployment approve a plan of it. The evaluator is one for that
// deployment. Without declarations, only the built-in rule counts.
func Judge(ctx context.Context, config *deployconfig.Config, evaluator *deployeval.Evaluator, plan *stackplan.Plan, facts Facts) Judgement {
	switch {
	case facts.Diagnostics.HasErrors() || !plan.Applyable:
		return Judgement{} // rule A4
	case plan.IsEmpty():
		return Judgement{Rules: []string{EmptyPlan}}
	case config == nil:
		return Judgement{}
	}
	var judgement Judgement
	seen := Context(plan, facts)
	for _, rule := range rulesFor(config, facts.Deployment) {
		judgement.Rules = append(judgement.Rules, rule.Name)
		judgement.Refusals = append(judgement.Refusals, evaluator.Check(ctx, rule, seen)...)
	}
	if len(judgement.Refusals) > 0 {
		judgement.Rules = nil
	}
	return judgement
}

// rulesFor returns the rules for a deployment (rule A2), each once.
func rulesFor(config *deployconfig.Config, deployment string) []*deployconfig.Rule {
	var rules []*deployconfig.Rule
	for _, legacy := range config.Orchestrate {
		if legacy.Type == "auto_approve" {
			rules = append(rules, &deployconfig.Rule{Name: legacy.Name, Checks: legacy.Checks, Range: legacy.Range})
		}
	}
	declared := config.Deployments[deployment]
	if declared == nil || config.Groups[declared.Group] == nil {
		return rules
	}
	for _, name := range config.Groups[declared.Group].Checks {
		if rule := config.Rules[name]; rule != nil && !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	return rules
}
