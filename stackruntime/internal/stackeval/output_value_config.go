// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/conversion"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// OutputValueConfig is an output block.
type OutputValueConfig struct {
	stack *StackConfig
	addr  stackaddrs.ConfigOutputValue
	decl  *stackconfig.OutputValue

	value memo.Memo[cty.Value]
}

func newOutputValueConfig(stack *StackConfig, decl *stackconfig.OutputValue) *OutputValueConfig {
	return &OutputValueConfig{
		stack: stack,
		addr:  stackaddrs.ConfigOutputValue{Stack: stack.addr, Item: stackaddrs.OutputValue{Name: decl.Name}},
		decl:  decl,
	}
}

// Value is what the output has in every instance of the stack.
func (o *OutputValueConfig) Value(ctx context.Context) cty.Value {
	return o.value.Value(ctx, o.valueAspect)
}

// Validate reports what is wrong with the value in any instance.
func (o *OutputValueConfig) Validate(ctx context.Context) hcl.Diagnostics {
	_, diags := o.value.Check(ctx, o.valueAspect)
	return diags
}

func (o *OutputValueConfig) valueAspect() memo.Aspect[cty.Value] {
	return memo.Aspect[cty.Value]{
		Name:        o.addr.String(),
		Placeholder: expr.Placeholder(o.decl.Type.WithoutOptional()),
		Compute: func(ctx context.Context) (cty.Value, hcl.Diagnostics) {
			result, diags := expr.EvalExprAndEvalContext(ctx, o.decl.Value, expr.ValidatePhase, o.stack)
			if diags.HasErrors() {
				return expr.Placeholder(o.decl.Type.WithoutOptional()), diags
			}
			value, moreDiags := convertOutput(o.decl, result)
			return withDeclaredMarks(value, o.decl.Sensitive, o.decl.Ephemeral), diags.Extend(moreDiags)
		},
	}
}

// convertOutput gives a value the type of the output. The marks of its declaration are added by others.
func convertOutput(decl *stackconfig.OutputValue, result expr.Result) (cty.Value, hcl.Diagnostics) {
	value := result.Value
	if decl.Type.Defaults != nil {
		value = decl.Type.Defaults.Apply(value)
	}
	converted, err := conversion.Convert(value, decl.Type.Constraint)
	if err != nil {
		return expr.Placeholder(decl.Type.WithoutOptional()), hcl.Diagnostics{result.Diagnostic(
			"Output value has the wrong type",
			fmt.Sprintf("The value of output %q does not fit its type: %s. Change the expression or the type argument.", decl.Name, conversion.Describe(value, err)),
		)}
	}
	return converted, nil
}
