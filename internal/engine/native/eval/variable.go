// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Variable is an input variable of a module instance.
type Variable struct {
	module *Module
	config *module.Variable

	raw     memo[cty.Value]
	checked memo[cty.Value]
}

// Value returns the value as expressions see it, of the declared type, after the conditions were
// checked.
func (v *Variable) Value(ctx context.Context) (cty.Value, bool) {
	if len(v.config.Validations) == 0 || v.module.eval.opts.Phase == Validate {
		return v.rawValue(ctx)
	}
	return v.checked.get(ctx, v.module.eval, v.name(), v.config.Range.Ptr(), func(ctx context.Context) (cty.Value, bool) {
		value, ok := v.rawValue(ctx)
		if !ok {
			return cty.NilVal, false
		}
		return value, v.validate(ctx)
	})
}

// Check reports the mistakes in the argument and the conditions, while validating.
func (v *Variable) Check(ctx context.Context) {
	if given, at, ok := v.given(ctx); ok && v.module.call != nil {
		if _, diag := v.accept(given, at); diag != nil {
			v.module.eval.Diagnostics.Add(diag)
		}
		v.warnDeprecated(given, at.Range)
	}
	v.validate(ctx)
}

// warnDeprecated reports a value that a call gives to a deprecated variable.
func (v *Variable) warnDeprecated(given cty.Value, at hcl.Range) {
	if v.config.Deprecated == nil || given == cty.NilVal {
		return
	}
	if bare, _ := given.Unmark(); bare.IsKnown() && bare.IsNull() {
		return
	}
	v.module.eval.Diagnostics.Add(failure.WarningAt(at, "Deprecated variable got a value", "%s", *v.config.Deprecated))
}

// isOf reports whether a condition is about the variable.
func (v *Variable) isOf(rule *module.Condition) bool {
	own := refs.Subject{Kind: refs.Variable, Name: v.config.Name}
	return isPlaceholder(rule.Condition) ||
		slices.ContainsFunc(rule.Condition.Refs, func(ref refs.Reference) bool { return ref.Subject == own })
}

// name is that for messages about cycles.
func (v *Variable) name() string { return v.module.prefixed("var." + v.config.Name) }

// rawValue is Value before the conditions are checked, for themselves.
func (v *Variable) rawValue(ctx context.Context) (cty.Value, bool) {
	if v.module.eval.opts.Phase == Validate {
		unknown := cty.UnknownVal(v.config.Type.WithoutOptionalAttributesDeep())
		return marks.Declared(unknown, v.config.Sensitive, v.config.Ephemeral), true
	}
	return v.raw.get(ctx, v.module.eval, v.name(), v.config.Range.Ptr(), func(ctx context.Context) (cty.Value, bool) {
		given, at, ok := v.given(ctx)
		if !ok {
			return cty.NilVal, false
		}
		value, diag := v.accept(given, at)
		if diag != nil {
			return cty.NilVal, v.module.eval.Diagnostics.Add(diag)
		}
		return marks.Declared(value, v.config.Sensitive, v.config.Ephemeral), true
	})
}

// given returns the argument of the caller, [cty.NilVal] without one, and its place.
func (v *Variable) given(ctx context.Context) (value cty.Value, at *Source, ok bool) {
	m := v.module
	if m.call == nil {
		value, given := m.eval.opts.Inputs[v.config.Name]
		if !given {
			return cty.NilVal, &Source{Range: v.config.Range}, true
		}
		return value, &Source{Range: v.config.Range}, true
	}
	expr := m.call.Config.Inputs[v.config.Name]
	if expr == nil {
		return cty.NilVal, &Source{Range: m.call.Config.Range}, true
	}
	result, ok := m.call.module.evaluate(ctx, expr, Place{Repetition: m.repetition})
	if ok {
		m.call.module.usedWhole(result.Value, result.Range) // and where the called module uses it, again
	}
	return result.Value, &result.Source, ok
}

// accept converts the argument.
func (v *Variable) accept(value cty.Value, at *Source) (cty.Value, *hcl.Diagnostic) {
	accepted, refusal := v.config.Accept(value)
	if refusal != nil {
		return cty.NilVal, at.Error(refusal.Summary, refusal.Detail)
	}
	return accepted, nil
}

// validate checks the conditions.
func (v *Variable) validate(ctx context.Context) bool {
	address := v.module.prefixed("var." + v.config.Name)
	given := &v.config.Range
	if call := v.module.call; call != nil && call.Config.Inputs[v.config.Name] != nil {
		given = call.Config.Inputs[v.config.Name].Range().Ptr()
	}
	ok := true
	for _, rule := range v.config.Validations {
		if v.module.eval.opts.Phase == Validate && !v.isOf(rule) {
			v.module.eval.Diagnostics.Problem(rule.Condition.Range(), "Validation of another value",
				fmt.Sprintf("The condition must refer to var.%s, the value that it is for.", v.config.Name))
			continue
		}
		if !v.module.checkCondition(ctx, rule, Place{ownVariable: v}, conditionOf{
			kind: engine.CheckVariable, block: v.module.staticPrefixed("var." + v.config.Name), object: address,
			summary: "Invalid value for variable", given: given,
		}) {
			ok = false
		}
	}
	return ok
}
