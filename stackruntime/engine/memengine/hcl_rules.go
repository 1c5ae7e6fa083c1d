// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// checkVariables checks the validation rules of all variables.
func (r *hclRun) checkVariables() bool {
	ok := true
	for _, name := range slices.Sorted(maps.Keys(r.program.variables)) {
		held := r.hold(r.program.variables[name].rules, nil, newNeeds(), "Invalid value for variable", r.checkable(engine.CheckVariable, "var.", name))
		ok = ok && held
	}
	return ok
}

// checkable is an object that rules belong to.
type checkable struct {
	kind    engine.CheckKind
	address string // without the key
	key     stackaddrs.InstanceKey
}

// checkable names a part of the module that has one instance only.
func (r *hclRun) checkable(kind engine.CheckKind, prefix, name string) checkable {
	return checkable{kind: kind, address: strings.TrimPrefix(r.path+"."+prefix+name, ".")}
}

// check checks the assertions of a check block. Those that do not hold are
// warnings.
func (r *hclRun) check(name string) {
	before := r.diags
	r.diags = nil
	r.hold(r.program.checks[name].rules, nil, newNeeds(), "Check block assertion failed", r.checkable(engine.CheckBlock, "check.", name))
	for _, diag := range r.diags {
		diag.Severity = hcl.DiagWarning
	}
	r.diags = append(slices.Clip(before), r.diags...)
}

// hold checks rules, reports those that do not hold and records the results.
// Rules whose outcome is not known yet do not count as failed.
func (r *hclRun) hold(rules []*ruleConfig, symbols map[string]cty.Value, needs *needs, summary string, checked checkable) bool {
	if len(rules) == 0 {
		return true
	}
	result := engine.CheckedObject{Address: checked.address + checked.key.String(), Status: engine.CheckPass}
	for _, rule := range rules {
		status, message := r.rule(rule, symbols, needs, summary)
		if status == engine.CheckFail {
			result.Messages = append(result.Messages, message)
		}
		result.Status = worse(result.Status, status)
	}
	r.record(checked, result)
	return !result.Status.Failed()
}

func (r *hclRun) rule(rule *ruleConfig, symbols map[string]cty.Value, needs *needs, summary string) (engine.CheckStatus, string) {
	v, ok := r.evaluate(rule.condition, symbols, needs)
	if !ok {
		return engine.CheckError, ""
	}
	v, _ = v.Unmark()
	condition, err := convert.Convert(v, cty.Bool)
	if err != nil || condition.IsNull() {
		r.fail("Invalid condition result", "The condition must be true or false.", rule.condition.Range().Ptr())
		return engine.CheckError, ""
	}
	if !condition.IsKnown() {
		return engine.CheckUnknown, ""
	}
	if condition.True() {
		return engine.CheckPass, ""
	}
	message := r.message(rule, symbols, needs)
	r.fail(summary, message, rule.condition.Range().Ptr())
	return engine.CheckFail, message
}

// message evaluates the message of a failed rule. A message that may not be shown is replaced by a
// sentence that says so.
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
func (r *hclRun) record(checked checkable, result engine.CheckedObject) {
	i := slices.IndexFunc(r.checks, func(c engine.CheckResult) bool { return c.Address == checked.address })
	if i < 0 {
		i = len(r.checks)
		r.checks = append(r.checks, engine.CheckResult{Kind: checked.kind, Address: checked.address, Status: engine.CheckPass})
	}
	c := &r.checks[i]
	c.Status = worse(c.Status, result.Status)
	j := slices.IndexFunc(c.Objects, func(o engine.CheckedObject) bool { return o.Address == result.Address })
	if j < 0 {
		c.Objects = append(c.Objects, result)
		return
	}
	c.Objects[j].Status = worse(c.Objects[j].Status, result.Status)
	c.Objects[j].Messages = append(c.Objects[j].Messages, result.Messages...)
}

// worse returns the status that decides for both.
func worse(a, b engine.CheckStatus) engine.CheckStatus {
	order := []engine.CheckStatus{
		engine.CheckPass, engine.CheckUnknown, engine.CheckFail, engine.CheckError,
	}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}
