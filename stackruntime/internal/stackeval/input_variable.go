// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/conversion"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/inputs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
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

// CheckValue is like Value and reports what is wrong with it.
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
			return value, diags.Extend(v.checkRules(ctx, value))
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
		return v.rootValue(main.planning.Inputs[v.addr.Item.Name])
	case main.applying != nil:
		return v.rootValueAtApply()
	default:
		given := main.inspecting.Inputs[v.addr.Item.Name]
		if given == cty.NilVal && v.config.decl.Default == cty.NilVal {
			return cty.UnknownVal(v.config.decl.Type.WithoutOptional()), nil
		}
		return v.rootValue(given)
	}
}

// rootValue converts a value from outside. cty.NilVal and null select the default.
func (v *InputVariable) rootValue(given cty.Value) (cty.Value, hcl.Diagnostics) {
	decl := v.config.decl
	if given == cty.NilVal || inputs.IsNull(given) {
		if decl.Default != cty.NilVal {
			return decl.Default, nil
		}
		return cty.NilVal, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Value needed for variable",
			Detail:   fmt.Sprintf("Variable var.%[1]s is not set and has no default. Set it with -var=%[1]s=..., in a file given by -var-file, or in the environment as TF_VAR_%[1]s.", decl.Name),
			Subject:  decl.Range.Ptr(),
		}}
	}
	if decl.Type.Defaults != nil {
		given = decl.Type.Defaults.Apply(given)
	}
	value, err := conversion.Convert(given, decl.Type.Constraint)
	if err != nil {
		return cty.NilVal, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Value does not fit the variable",
			Detail:   fmt.Sprintf("The value given for variable %q does not fit its type: %s.", decl.Name, conversion.Describe(v.config.marked(given), err)),
			Subject:  decl.Range.Ptr(),
		}}
	}
	return value, nil
}

// rootValueAtApply is the planned value, or of a variable whose value the plan does not hold the one given now.
func (v *InputVariable) rootValueAtApply() (cty.Value, hcl.Diagnostics) {
	applying := v.stack.main.applying
	given, isGiven := applying.Inputs[v.config.decl.Name]
	planned := applying.Plan.Inputs[v.config.decl.Name]
	switch {
	case planned == nil || isGiven:
	case planned.RequiredOnApply || planned.IsUnknown() && !applying.LeaveUnknown:
		return cty.NilVal, hcl.Diagnostics{v.neededAtApply(planned)}
	case !v.config.decl.Ephemeral:
		return planned.After, nil
	}
	value, diags := v.rootValue(given)
	if diags.HasErrors() {
		return value, diags
	}
	if planned != nil && !v.config.decl.Ephemeral {
		if diag := v.contradiction(planned, value); diag != nil {
			return cty.NilVal, hcl.Diagnostics{diag}
		}
		value = marks.MarkPaths(value, marks.Sensitive, marks.Paths(planned.After, marks.Sensitive))
	}
	if !value.IsWhollyKnown() && !applying.LeaveUnknown {
		return cty.NilVal, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Value still not known",
			Detail: fmt.Sprintf("The value given for variable var.%[1]s is not known yet, in whole or in part, and an apply needs all of it. "+
				"Set it with -var=%[1]s=... or in a file given by -var-file, after other files that have it.", v.config.decl.Name),
			Subject: v.config.decl.Range.Ptr(),
		}}
	}
	return value, nil
}

// neededAtApply says that an apply was not given a value which the plan does not hold.
func (v *InputVariable) neededAtApply(planned *stackplan.InputChange) *hcl.Diagnostic {
	detail := "The value of variable var.%[1]s was not known while planning, in whole or in part, so it must be set for the apply, with -var=%[1]s=..., in a file given by -var-file, or in the environment as TF_VAR_%[1]s."
	if planned.RequiredOnApply {
		detail = "Variable var.%[1]s is ephemeral and had a value while planning. Values of ephemeral variables are never stored, so it must be set again for the apply, with -var=%[1]s=... or TF_VAR_%[1]s."
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Value needed for variable",
		Detail:   fmt.Sprintf(detail, v.config.decl.Name),
		Subject:  v.config.decl.Range.Ptr(),
	}
}

// contradiction says that a value is not one that the plan was made for, nil if it is.
func (v *InputVariable) contradiction(planned *stackplan.InputChange, value cty.Value) *hcl.Diagnostic {
	err := engine.CheckRefines(planned.After, value)
	if err == nil {
		return nil
	}
	diag := &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Variable changed since planning",
		Detail:   fmt.Sprintf("Variable %q must have the value that the plan was made with. Only ephemeral variables may have another. Leave it out, or make a new plan.", v.config.decl.Name),
		Subject:  v.config.decl.Range.Ptr(),
	}
	if planned.IsUnknown() {
		reason := conversion.DescribeError(err)
		if secret := v.config.marked(planned.After); marks.Contains(secret, marks.Sensitive) || marks.Contains(value, marks.Sensitive) {
			reason = err.Error() // the path may have keys of maps
		}
		diag.Summary = "Value contradicting the plan"
		diag.Detail = fmt.Sprintf("The value given for variable var.%s does not go with the part of it that was known while planning: %s. Give one that does, or make a new plan.", v.config.decl.Name, reason)
	}
	return diag
}

// isDefault reports whether nobody has given a value to plan with. An apply then takes the default, too; after any
// other value it must not do so by itself.
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
