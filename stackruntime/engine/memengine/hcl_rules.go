// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// checkVariables checks the validation rules of all variables.
func (r *hclRun) checkVariables() bool {
	ok := true
	for _, name := range slices.Sorted(maps.Keys(r.program.variables)) {
		static := r.checkAddress("var", "var.", name)
		held := r.hold(r.program.variables[name].rules, nil, newNeeds(), "Invalid value for variable", static, tfjson.CheckDynamicAddress{ToDisplay: static.ToDisplay})
		ok = ok && held
	}
	return ok
}

// checkAddress names what rules belong to.
func (r *hclRun) checkAddress(kind tfjson.CheckKind, prefix, name string) tfjson.CheckStaticAddress {
	display := strings.TrimPrefix(r.path+"."+prefix+name, ".")
	return tfjson.CheckStaticAddress{ToDisplay: display, Kind: kind, Module: r.path, Name: name}
}

// check checks the assertions of a check block. Those that do not hold are
// warnings.
func (r *hclRun) check(name string) {
	static := r.checkAddress(tfjson.CheckKindCheckBlock, "check.", name)
	before := r.diags
	r.diags = nil
	r.hold(r.program.checks[name].rules, nil, newNeeds(), "Check block assertion failed", static, tfjson.CheckDynamicAddress{ToDisplay: static.ToDisplay})
	for _, diag := range r.diags {
		diag.Severity = hcl.DiagWarning
	}
	r.diags = append(slices.Clip(before), r.diags...)
}

// hold checks rules, reports those that do not hold and records the results.
// Rules whose outcome is not known yet do not count as failed.
func (r *hclRun) hold(rules []*ruleConfig, symbols map[string]cty.Value, needs *needs, summary string, static tfjson.CheckStaticAddress, dynamic tfjson.CheckDynamicAddress) bool {
	if len(rules) == 0 {
		return true
	}
	result := tfjson.CheckResultDynamic{Address: dynamic, Status: tfjson.CheckStatusPass}
	for _, rule := range rules {
		status, message := r.rule(rule, symbols, needs, summary)
		if status == tfjson.CheckStatusFail {
			result.Problems = append(result.Problems, tfjson.CheckResultProblem{Message: message})
		}
		result.Status = worse(result.Status, status)
	}
	r.record(static, result)
	return result.Status != tfjson.CheckStatusFail && result.Status != tfjson.CheckStatusError
}

func (r *hclRun) rule(rule *ruleConfig, symbols map[string]cty.Value, needs *needs, summary string) (tfjson.CheckStatus, string) {
	v, ok := r.evaluate(rule.condition, symbols, needs)
	if !ok {
		return tfjson.CheckStatusError, ""
	}
	v, _ = v.Unmark()
	condition, err := convert.Convert(v, cty.Bool)
	if err != nil || condition.IsNull() {
		r.fail("Invalid condition result", "The condition must be true or false.", rule.condition.Range().Ptr())
		return tfjson.CheckStatusError, ""
	}
	if !condition.IsKnown() {
		return tfjson.CheckStatusUnknown, ""
	}
	if condition.True() {
		return tfjson.CheckStatusPass, ""
	}
	message := r.message(rule, symbols, needs)
	r.fail(summary, message, rule.condition.Range().Ptr())
	return tfjson.CheckStatusFail, message
}

// message evaluates the message of a failed rule. What may not be shown is
// replaced by a sentence that says so.
func (r *hclRun) message(rule *ruleConfig, symbols map[string]cty.Value, needs *needs) string {
	v, ok := r.evaluate(rule.errorMessage, symbols, needs)
	if marks.Contains(v, marks.Sensitive) || marks.Contains(v, marks.Ephemeral) {
		return "The error message of this rule refers to values that may not be shown."
	}
	v, _ = v.UnmarkDeep()
	text, err := convert.Convert(v, cty.String)
	if !ok || err != nil || text.IsNull() || !text.IsKnown() {
		return "The error message of this rule could not be evaluated."
	}
	return text.AsString()
}

// record adds a result to those of its object.
func (r *hclRun) record(static tfjson.CheckStaticAddress, result tfjson.CheckResultDynamic) {
	i := slices.IndexFunc(r.checks, func(c tfjson.CheckResultStatic) bool { return c.Address == static })
	if i < 0 {
		i = len(r.checks)
		r.checks = append(r.checks, tfjson.CheckResultStatic{Address: static, Status: tfjson.CheckStatusPass})
	}
	c := &r.checks[i]
	c.Status = worse(c.Status, result.Status)
	j := slices.IndexFunc(c.Instances, func(d tfjson.CheckResultDynamic) bool { return d.Address == result.Address })
	if j < 0 {
		c.Instances = append(c.Instances, result)
		return
	}
	c.Instances[j].Status = worse(c.Instances[j].Status, result.Status)
	c.Instances[j].Problems = append(c.Instances[j].Problems, result.Problems...)
}

// worse returns the status that decides for both.
func worse(a, b tfjson.CheckStatus) tfjson.CheckStatus {
	order := []tfjson.CheckStatus{
		tfjson.CheckStatusPass, tfjson.CheckStatusUnknown, tfjson.CheckStatusFail, tfjson.CheckStatusError,
	}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}
