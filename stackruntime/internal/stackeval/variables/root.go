// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package variables computes the values of input variables from those given for them, from outside
// or by a plan, and checks them by their validation rules (docs/language.md, section 2.3).
package variables

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/conversion"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/inputs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Given returns the value of a root variable from the one given for it from outside. [cty.NilVal]
// and null select the default.
//
// The value is of the declared type, without the declared marks. With errors it is [cty.NilVal].
func Given(decl *stackconfig.InputVariable, given cty.Value) (cty.Value, hcl.Diagnostics) {
	if given == cty.NilVal || inputs.IsNull(given) {
		if decl.Default != cty.NilVal {
			return decl.Default, nil
		}
		return cty.NilVal, hcl.Diagnostics{failure.With(fault.Value{Variable: decl.Name, Fleeting: decl.Ephemeral},
			failure.At(decl.Range, "Value needed for variable", "Variable var.%s is not set and has no default.", decl.Name))}
	}
	if decl.Type.Defaults != nil {
		given = decl.Type.Defaults.Apply(given)
	}
	value, err := conversion.Convert(given, decl.Type.Constraint)
	if err != nil {
		return cty.NilVal, hcl.Diagnostics{failure.At(decl.Range, "Value does not fit the variable", "The value given for variable %q does not "+
			"fit its type: %s.", decl.Name, marks.DescribeError(marks.Declared(given, decl.Sensitive, decl.Ephemeral), err))}
	}
	return value, nil
}

// AtApply is the knowledge of an apply about a root variable.
type AtApply struct {
	Planned *stackplan.InputChange // nil for none

	Given   cty.Value
	IsGiven bool

	LeaveUnknown bool // a value that was not known while planning need not be now
}

// Value returns the planned value, or of a variable whose value the plan does not hold the one
// given now. It is as that of [Given].
func (a AtApply) Value(decl *stackconfig.InputVariable) (cty.Value, hcl.Diagnostics) {
	switch {
	case a.Planned == nil || a.IsGiven:
	case a.Planned.RequiredOnApply || a.Planned.IsUnknown() && !a.LeaveUnknown:
		return cty.NilVal, hcl.Diagnostics{a.needed(decl)}
	case !decl.Ephemeral:
		return a.Planned.After, nil
	}
	value, diags := Given(decl, a.Given)
	if diags.HasErrors() {
		return value, diags
	}
	if a.Planned != nil && !decl.Ephemeral {
		if diag := a.contradiction(decl, value); diag != nil {
			return cty.NilVal, hcl.Diagnostics{diag}
		}
		value = marks.MarkPaths(value, marks.Sensitive, marks.Paths(a.Planned.After, marks.Sensitive))
	}
	if !value.IsWhollyKnown() && !a.LeaveUnknown {
		return cty.NilVal, hcl.Diagnostics{failure.With(fault.Value{Variable: decl.Name, Fleeting: decl.Ephemeral, Given: true},
			failure.At(decl.Range, "Value still not known",
				"The value given for variable var.%s is not known yet, in whole or in part, and an apply needs all of it.", decl.Name))}
	}
	return value, nil
}

// needed says that an apply was not given a value which the plan does not hold.
func (a AtApply) needed(decl *stackconfig.InputVariable) *hcl.Diagnostic {
	detail := "The value of variable var.%s was not known while planning, in whole or in part, so it must be set for the apply."
	if a.Planned.RequiredOnApply {
		detail = "Variable var.%s is ephemeral and had a value while planning. " +
			"Values of ephemeral variables are never stored, so it must be set again for the apply."
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Value needed for variable",
		Detail:   fmt.Sprintf(detail, decl.Name),
		Subject:  decl.Range.Ptr(),
		Extra:    fault.Value{Variable: decl.Name, Fleeting: a.Planned.RequiredOnApply},
	}
}

// contradiction says that a value is not one that the plan was made for, nil if it is.
func (a AtApply) contradiction(decl *stackconfig.InputVariable, value cty.Value) *hcl.Diagnostic {
	err := engine.CheckRefines(a.Planned.After, value)
	if err == nil {
		return nil
	}
	diag := failure.At(decl.Range, "Variable changed since planning", "Variable %q must have the value that the plan was made with. Only "+
		"ephemeral variables may have another. Leave it out, or make a new plan.", decl.Name)
	if a.Planned.IsUnknown() {
		reason := marks.DescribeError(cty.NilVal, err)
		if secret := marks.Declared(a.Planned.After, decl.Sensitive, decl.Ephemeral); marks.Contains(secret, marks.Sensitive) ||
			marks.Contains(value, marks.Sensitive) {
			reason = err.Error() // the path may have keys of maps
		}
		diag.Summary = "Value contradicting the plan"
		diag.Detail = fmt.Sprintf("The value given for variable var.%s does not go with the part of it that was known while planning: %s. "+
			"Give one that does, or make a new plan.", decl.Name, reason)
	}
	return diag
}
