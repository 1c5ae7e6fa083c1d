// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/conversion"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// OutputValue is an output in one stack instance.
type OutputValue struct {
	stack  *Stack
	addr   stackaddrs.AbsOutputValue
	config *OutputValueConfig

	value memo.Memo[cty.Value]
}

func newOutputValue(stack *Stack, config *OutputValueConfig) *OutputValue {
	return &OutputValue{
		stack:  stack,
		addr:   stackaddrs.AbsOutputValue{Stack: stack.addr, Item: config.addr.Item},
		config: config,
	}
}

// Value is the result, of the declared type and with the declared marks.
func (o *OutputValue) Value(ctx context.Context) cty.Value {
	return o.value.Value(ctx, o.valueAspect)
}

// CheckValue is like Value and reports mistakes in it.
func (o *OutputValue) CheckValue(ctx context.Context) (cty.Value, hcl.Diagnostics) {
	return o.value.Check(ctx, o.valueAspect)
}

func (o *OutputValue) valueAspect() memo.Aspect[cty.Value] {
	decl := o.config.decl
	placeholder := expr.Placeholder(decl.Type.WithoutOptional())
	return memo.Aspect[cty.Value]{
		Name:        o.addr.String(),
		Placeholder: placeholder,
		Compute: func(ctx context.Context) (cty.Value, hcl.Diagnostics) {
			diags := o.checkDeclaration()
			result, moreDiags := expr.EvalExprAndEvalContext(ctx, decl.Value, o.stack.main.phase, o.stack)
			diags = diags.Extend(moreDiags)
			if moreDiags.HasErrors() {
				return placeholder, diags
			}
			value, moreDiags := convertOutput(decl, result)
			diags = diags.Extend(moreDiags)
			if moreDiags.HasErrors() {
				return placeholder, diags
			}
			if diag := o.checkEphemeral(result, value); diag != nil {
				return placeholder, diags.Append(diag)
			}
			return marks.Declared(value, decl.Sensitive, decl.Ephemeral), diags
		},
	}
}

// checkDeclaration refuses arguments that only embedded stacks can have.
func (o *OutputValue) checkDeclaration() hcl.Diagnostics {
	var diags hcl.Diagnostics
	if !o.stack.addr.IsRoot() {
		return nil
	}
	decl := o.config.decl
	if stackconfig.HasProviderRef(decl.Type.Constraint) {
		diags = diags.Append(failure.At(decl.Range, "Root outputs cannot expose provider configurations",
			"Output %q would leave the stack, and a provider configuration has a meaning only inside.", decl.Name))
	}
	if decl.Ephemeral {
		diags = diags.Append(failure.At(decl.Range, "Root outputs cannot be ephemeral",
			"Output %q is kept in the state, which an ephemeral value must not be. Only outputs of embedded stacks can be ephemeral.", decl.Name))
	}
	return diags
}

// checkEphemeral compares the declaration with the value, which is that of the result in the
// declared type.
func (o *OutputValue) checkEphemeral(result expr.Result, value cty.Value) *hcl.Diagnostic {
	ephemeral := marks.Paths(value, marks.Ephemeral)
	decl := o.config.decl
	switch {
	case decl.Ephemeral && len(ephemeral) == 0 && !expr.IsFailed(value):
		return result.Diagnostic("Output should be ephemeral but is not",
			fmt.Sprintf("Output %q is declared with ephemeral = true, but no part of its value is ephemeral. Remove the argument.", decl.Name))
	case !decl.Ephemeral && len(ephemeral) > 0:
		part := "the value"
		if len(ephemeral[0]) > 0 {
			part = marks.DescribePath(ephemeral[0])
		}
		return result.Diagnostic("Ephemeral value in a lasting output",
			fmt.Sprintf("In output %q, %s is ephemeral. Declare the output with ephemeral = true, "+
				"which embedded stacks can do, or use another value.", decl.Name, part))
	default:
		return nil
	}
}

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

// Value is the value that the output has in every instance of the stack.
func (o *OutputValueConfig) Value(ctx context.Context) cty.Value {
	return o.value.Value(ctx, o.valueAspect)
}

// Validate reports the mistakes that the value would have in any instance.
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
			return marks.Declared(value, o.decl.Sensitive, o.decl.Ephemeral), diags.Extend(moreDiags)
		},
	}
}

// convertOutput gives a value the type of the output. The marks of its declaration are added by
// others.
func convertOutput(decl *stackconfig.OutputValue, result expr.Result) (cty.Value, hcl.Diagnostics) {
	value := result.Value
	if decl.Type.Defaults != nil {
		value = decl.Type.Defaults.Apply(value)
	}
	converted, err := conversion.Convert(value, decl.Type.Constraint)
	if err != nil {
		return expr.Placeholder(decl.Type.WithoutOptional()), hcl.Diagnostics{result.Diagnostic(
			"Output value has the wrong type",
			fmt.Sprintf("The value of output %q does not fit its type: %s. Change the expression or the type argument.",
				decl.Name, marks.DescribeError(value, err)),
		)}
	}
	return converted, nil
}
