// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

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
// The value is what the call of the stack assigns, as far as it can be seen
// without knowing instances; for the root stack it is unknown.
func (v *InputVariableConfig) ExprReferenceValue(ctx context.Context) cty.Value {
	if v.stack.call != nil {
		return v.marked(v.stack.call.InputValues(ctx)[v.decl.Name])
	}
	return v.marked(cty.UnknownVal(v.decl.Type.WithoutOptional()))
}

// Validate checks what validation rules refer to: only the variable itself.
func (v *InputVariableConfig) Validate(ctx context.Context) hcl.Diagnostics {
	scope := ownVariableScope{name: v.decl.Name, value: cty.DynamicVal, FunctionScope: v.stack}
	var diags hcl.Diagnostics
	for _, rule := range v.decl.Validations {
		diags = diags.Extend(expr.CheckReferences(ctx, rule.Condition, scope))
		diags = diags.Extend(expr.CheckReferences(ctx, rule.ErrorMessage, scope))
	}
	return diags
}

// marked adds the marks that the declaration asks for.
func (v *InputVariableConfig) marked(value cty.Value) cty.Value {
	return withDeclaredMarks(value, v.decl.Sensitive, v.decl.Ephemeral)
}

func withDeclaredMarks(value cty.Value, sensitive, ephemeral bool) cty.Value {
	if sensitive {
		value = value.Mark(marks.Sensitive)
	}
	if ephemeral {
		value = value.Mark(marks.Ephemeral)
	}
	return value
}
