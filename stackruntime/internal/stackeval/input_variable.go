// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/inputs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/variables"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// InputVariable is a variable in one stack instance.
type InputVariable struct {
	stack  *Stack
	addr   stackaddrs.AbsInputVariable
	config *InputVariableConfig

	value memo.Memo[cty.Value]
}

func newInputVariable(stack *Stack, config *InputVariableConfig) *InputVariable {
	return &InputVariable{
		stack:  stack,
		addr:   stackaddrs.AbsInputVariable{Stack: stack.addr, Item: config.addr.Item},
		config: config,
	}
}

// ExprReferenceValue implements [expr.Referenceable].
func (v *InputVariable) ExprReferenceValue(ctx context.Context) cty.Value {
	return v.Value(ctx)
}

// Value is the variable's value, of the declared type and with the declared marks.
func (v *InputVariable) Value(ctx context.Context) cty.Value {
	return v.value.Value(ctx, v.valueAspect)
}

// CheckValue is like Value and reports mistakes in it.
func (v *InputVariable) CheckValue(ctx context.Context) (cty.Value, hcl.Diagnostics) {
	return v.value.Check(ctx, v.valueAspect)
}

func (v *InputVariable) valueAspect() memo.Aspect[cty.Value] {
	return memo.Aspect[cty.Value]{
		Name:        v.addr.String(),
		Placeholder: v.placeholder(),
		Compute: func(ctx context.Context) (cty.Value, hcl.Diagnostics) {
			value, diags := v.givenValue(ctx)
			if diags.HasErrors() {
				return v.placeholder(), diags
			}
			value = v.config.marked(value)
			if v.stack.main.phase == expr.InspectPhase || expr.IsFailed(value) {
				return value, diags
			}
			return value, diags.Extend(variables.CheckRules(ctx, v.config.decl, value, v.stack.main.phase, v.stack))
		},
	}
}

func (v *InputVariable) placeholder() cty.Value {
	return v.config.marked(expr.Placeholder(v.config.decl.Type.WithoutOptional()))
}

// givenValue is the value as assigned, of the declared type.
func (v *InputVariable) givenValue(ctx context.Context) (cty.Value, hcl.Diagnostics) {
	if v.stack.call != nil {
		return v.stack.call.InputValues(ctx)[v.addr.Item.Name], nil
	}
	main := v.stack.main
	switch {
	case main.planning != nil:
		return variables.Given(v.config.decl, main.planning.Inputs[v.addr.Item.Name])
	case main.applying != nil:
		apply := main.applying
		given, isGiven := apply.Inputs[v.addr.Item.Name]
		return variables.AtApply{
			Planned: apply.Plan.Inputs[v.addr.Item.Name], Given: given, IsGiven: isGiven, LeaveUnknown: apply.LeaveUnknown,
		}.Value(v.config.decl)
	default:
		given := main.inspecting.Inputs[v.addr.Item.Name]
		if given == cty.NilVal && v.config.decl.Default == cty.NilVal {
			return cty.UnknownVal(v.config.decl.Type.WithoutOptional()), nil
		}
		return variables.Given(v.config.decl, given)
	}
}

// isDefault reports whether nobody has given a value to plan with. An apply then takes the default,
// too; after any other value it must not do so by itself.
func (v *InputVariable) isDefault() bool {
	given := v.stack.main.planning.Inputs[v.addr.Item.Name]
	return v.config.decl.Default != cty.NilVal && (given == cty.NilVal || inputs.IsNull(given))
}

// inPlan is the value to be stored: nothing of an ephemeral variable is.
func (v *InputVariable) inPlan(value cty.Value) cty.Value {
	if v.config.decl.Ephemeral {
		return cty.NullVal(v.config.decl.Type.WithoutOptional())
	}
	return expr.WithoutFailed(marks.Remove(value, marks.Ephemeral))
}

// InputVariableConfig is a variable block.
type InputVariableConfig struct {
	stack *StackConfig
	addr  stackaddrs.ConfigInputVariable
	decl  *stackconfig.InputVariable
}

func newInputVariableConfig(stack *StackConfig, decl *stackconfig.InputVariable) *InputVariableConfig {
	return &InputVariableConfig{
		stack: stack,
		addr:  stackaddrs.ConfigInputVariable{Stack: stack.addr, Item: stackaddrs.InputVariable{Name: decl.Name}},
		decl:  decl,
	}
}

// ExprReferenceValue implements [expr.Referenceable].
//
// The value is the one that the call of the stack assigns, as far as it can be seen without knowing
// instances; for the root stack it is unknown.
func (v *InputVariableConfig) ExprReferenceValue(ctx context.Context) cty.Value {
	if v.stack.call != nil {
		return v.marked(v.stack.call.InputValues(ctx)[v.decl.Name])
	}
	return v.marked(cty.UnknownVal(v.decl.Type.WithoutOptional()))
}

// Validate checks the references of validation rules: only the variable itself is allowed.
func (v *InputVariableConfig) Validate(ctx context.Context) hcl.Diagnostics {
	return variables.CheckRuleReferences(ctx, v.decl, v.stack)
}

// marked adds the marks that the declaration asks for.
func (v *InputVariableConfig) marked(value cty.Value) cty.Value {
	return marks.Declared(value, v.decl.Sensitive, v.decl.Ephemeral)
}
