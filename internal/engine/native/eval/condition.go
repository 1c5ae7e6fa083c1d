// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Conditions is the consequence of conditions that do not hold. The results are recorded in any
// case. Those of variables are errors in all plans.
type Conditions int

// These are errors, except in check blocks; warnings; or nothing, where all is destroyed.
const (
	EnforceConditions Conditions = iota
	WarnOfConditions
	IgnoreConditions
)

// ConditionsOf returns the consequence of conditions in a mode.
func ConditionsOf(mode engine.Mode) Conditions {
	switch mode {
	case engine.Normal:
		return EnforceConditions
	case engine.Destroy:
		return IgnoreConditions
	default:
		return WarnOfConditions
	}
}

// conditionOf says whose condition is checked.
type conditionOf struct {
	kind          engine.CheckKind
	block, object string // addresses, without and with the keys of instances
	summary       string // of the diagnostic if it does not hold
	warn          bool   // a warning if it does not hold

	given *hcl.Range // where the value is that is checked, if that is not the place of the condition
}

// Checks are the results of conditions. The zero value has none.
type Checks struct {
	mu struct {
		sync.Mutex
		blocks  map[checkKey]map[string]*engine.CheckedObject // by the address of the object
		notRead map[string]bool                               // addresses of checks whose data could not be read
	}
}

type checkKey struct {
	kind    engine.CheckKind
	address string
}

// Declare says that there is a block with conditions. It has no objects until there is a result of
// one.
func (c *Checks) Declare(kind engine.CheckKind, block string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.declare(checkKey{kind, block})
}

func (c *Checks) declare(key checkKey) map[string]*engine.CheckedObject {
	if c.mu.blocks == nil {
		c.mu.blocks = map[checkKey]map[string]*engine.CheckedObject{}
	}
	if c.mu.blocks[key] == nil {
		c.mu.blocks[key] = map[string]*engine.CheckedObject{}
	}
	return c.mu.blocks[key]
}

// severity orders results: of several, an object has the last in this order.
var severity = []engine.CheckStatus{engine.CheckPass, engine.CheckUnknown, engine.CheckFail, engine.CheckError}

// Record adds the result of a condition.
func (c *Checks) Record(kind engine.CheckKind, block, object string, status engine.CheckStatus, message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	objects := c.declare(checkKey{kind, block})
	found := objects[object]
	if found == nil {
		found = &engine.CheckedObject{Address: object, Status: status}
		objects[object] = found
	}
	found.Status = worse(found.Status, status)
	if message != "" {
		found.Messages = append(found.Messages, message)
	}
}

// lacksData reports whether the data of a check could not be read.
func (c *Checks) lacksData(check string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.notRead[check]
}

func worse(a, b engine.CheckStatus) engine.CheckStatus {
	if slices.Index(severity, a) < slices.Index(severity, b) {
		return b
	}
	return a
}

// Results returns all results, sorted by kind and address.
func (c *Checks) Results() []engine.CheckResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	var results []engine.CheckResult
	for key, objects := range c.mu.blocks {
		result := engine.CheckResult{Kind: key.kind, Address: key.address, Status: engine.CheckPass}
		for _, object := range objects {
			result.Status = worse(result.Status, object.Status)
			result.Objects = append(result.Objects, *object)
		}
		slices.SortFunc(result.Objects, func(a, b engine.CheckedObject) int { return cmp.Compare(a.Address, b.Address) })
		results = append(results, result)
	}
	slices.SortFunc(results, func(a, b engine.CheckResult) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Kind, b.Kind))
	})
	return results
}

// checkCondition evaluates a condition, records the result, and reports whether the object can go
// on.
func (m *Module) checkCondition(ctx context.Context, rule *module.Condition, at Place, of conditionOf) bool {
	status, message, ok := m.evalCondition(ctx, rule, at, of)
	m.eval.Checks.Record(of.kind, of.block, of.object, status, message)
	return ok
}

func (m *Module) evalCondition(ctx context.Context, rule *module.Condition, at Place, of conditionOf) (engine.CheckStatus, string, bool) {
	if m.eval.opts.Phase == Validate {
		m.validateCondition(ctx, rule, at)
		return engine.CheckUnknown, "", true
	}
	result, ok := m.Eval(ctx, rule.Condition, at)
	switch {
	case !ok && result.EvalContext == nil: // one of its references has failed
		return engine.CheckUnknown, "", false
	case !ok:
		return engine.CheckError, "", false
	}
	holds, diag := conditionResult(result)
	switch {
	case diag != nil:
		return engine.CheckError, "", m.eval.Diagnostics.Add(diag)
	case !holds.IsKnown():
		return engine.CheckUnknown, "", true
	case holds.True():
		return engine.CheckPass, "", true
	}
	message, ok := m.errorMessage(ctx, rule, at, of.kind)
	if !ok {
		return engine.CheckFail, "", false
	}
	diag = result.Error(of.summary, message)
	if of.given != nil {
		diag.Detail += fmt.Sprintf("\n\nThis was checked by the validation rule at %s.", rule.Range)
		diag.Subject = of.given
	}
	required := of.kind == engine.CheckVariable && m.eval.opts.Phase == Plan
	if m.eval.opts.Conditions == IgnoreConditions && !required {
		return engine.CheckFail, message, true
	}
	if of.warn || m.eval.opts.Conditions == WarnOfConditions && !required {
		diag.Severity = hcl.DiagWarning
	}
	return engine.CheckFail, message, m.eval.Diagnostics.Add(diag)
}

// errorMessage returns the author's message about a condition that does not hold.
func (m *Module) errorMessage(ctx context.Context, rule *module.Condition, at Place, of engine.CheckKind) (string, bool) {
	if rule.ErrorMessage == nil {
		return "The condition does not hold.", true
	}
	result, ok := m.Eval(ctx, rule.ErrorMessage, at)
	if !ok {
		return "", false
	}
	for _, mark := range []marks.Mark{marks.Sensitive, marks.Ephemeral} {
		if marks.Contains(result.Value, mark) {
			hiding := result.Error("Hidden error message", "The message has "+mark.String()+" values in it, so that it is not shown. "+
				"Leave them out of it.")
			if of != engine.CheckVariable {
				hiding.Severity = hcl.DiagWarning // the condition decides whether to go on
			}
			m.eval.Diagnostics.Add(hiding)
			return "The message about this condition is " + mark.String() + ", and not shown.", true
		}
	}
	text, diag := messageText(result)
	switch {
	case diag != nil:
		return "", m.eval.Diagnostics.Add(diag)
	case !text.IsKnown():
		return "The message about this condition is known after apply.", true
	}
	return strings.TrimSpace(text.AsString()), true
}

// validateCondition reports the mistakes in a condition and its message that do not depend on
// values. Hidden values in messages are reported where a condition does not hold.
func (m *Module) validateCondition(ctx context.Context, rule *module.Condition, at Place) {
	if len(rule.Condition.Refs) == 0 {
		if !isPlaceholder(rule.Condition) {
			m.eval.Diagnostics.Problem(rule.Condition.Range(), "Condition without references",
				"The condition refers to nothing, and so is always true or always false.")
		}
		return
	}
	for _, part := range []struct {
		expr  *module.Expr
		check func(Result) (cty.Value, *hcl.Diagnostic)
	}{{rule.Condition, conditionResult}, {rule.ErrorMessage, messageText}} {
		if result, ok := m.Eval(ctx, part.expr, at); ok {
			if _, diag := part.check(result); diag != nil {
				m.eval.Diagnostics.Add(diag)
			}
		}
	}
}

// isPlaceholder reports whether an expression stands for one that is missing, which was reported.
func isPlaceholder(expr *module.Expr) bool {
	value, diags := expr.Value(nil)
	return !diags.HasErrors() && value == cty.DynamicVal
}

// conditionResult returns the result of a condition, which may be unknown.
func conditionResult(result Result) (cty.Value, *hcl.Diagnostic) {
	bare, _ := result.Value.UnmarkDeep()
	value, err := convert.Convert(bare, cty.Bool)
	switch {
	case err != nil:
		return value, result.Error("Invalid condition result", "A condition must be true or false: "+marks.DescribeError(result.Value, err)+".")
	case value.IsNull():
		return value, result.Error("Invalid condition result", "A condition must be true or false, and is null.")
	}
	return value, nil
}

// messageText returns the message about a condition, which may be unknown.
func messageText(result Result) (cty.Value, *hcl.Diagnostic) {
	bare, _ := result.Value.UnmarkDeep()
	text, err := convert.Convert(bare, cty.String)
	switch {
	case err != nil:
		return text, result.Error("Invalid error message", "The message must be a string: "+marks.DescribeError(result.Value, err)+".")
	case text.IsNull():
		return text, result.Error("Invalid error message", "The message must be a string, and is null.")
	}
	return text, nil
}

// Preconditions checks those of an instance of the resource, and reports whether it can go on.
func (r *Resource) Preconditions(ctx context.Context, at Place) bool {
	return r.conditions(ctx, r.Config.Preconditions, at, "Resource precondition failed")
}

// Postconditions checks those of an instance, whose object is that of the place.
func (r *Resource) Postconditions(ctx context.Context, at Place) bool {
	return r.conditions(ctx, r.Config.Postconditions, at, "Resource postcondition failed")
}

func (r *Resource) conditions(ctx context.Context, rules []*module.Condition, at Place, summary string) bool {
	ok := true
	for _, rule := range rules {
		if !r.Module.checkCondition(ctx, rule, at, conditionOf{
			kind: engine.CheckResource, block: r.Module.staticPrefixed(r.Config.Addr.String()), object: at.Resource,
			summary: summary, warn: r.Config.Check != nil,
		}) {
			ok = false
		}
	}
	return ok
}
