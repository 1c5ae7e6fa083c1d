// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Variable is a variable block.
type Variable struct {
	*engine.Variable
	Description string
	Validations []*Condition

	// Const is the range of the argument const where that is true: the value is known before anything
	// is planned. It is nil otherwise.
	Const *hcl.Range
}

// Refusal is the reason that a variable does not accept a value, for a diagnostic.
type Refusal struct{ Summary, Detail string }

// Accept returns a value that was given to the variable, or [cty.NilVal] if none was, as
// expressions in the module see it.
func (v *Variable) Accept(given cty.Value) (cty.Value, *Refusal) {
	if given == cty.NilVal {
		if v.Required() {
			return cty.NilVal, &Refusal{"Missing required argument", fmt.Sprintf("The variable %q has no default, and was given no value.", v.Name)}
		}
		given = v.Default
	}
	if !v.Ephemeral && marks.Contains(given, marks.Ephemeral) {
		return cty.NilVal, &Refusal{
			"Ephemeral value not allowed",
			fmt.Sprintf("The variable %q is not declared as ephemeral, and cannot be given an ephemeral value.", v.Name),
		}
	}
	converted, err := bounds.Convert(v.ApplyDefaults(given), v.Type)
	if err != nil {
		return cty.NilVal, &Refusal{
			"Invalid value for variable",
			fmt.Sprintf("The value is not suitable for the variable %q: %s.", v.Name, marks.DescribeError(given, err)),
		}
	}
	if bare, _ := converted.Unmark(); !v.Nullable && bare.IsNull() {
		if v.Required() {
			return cty.NilVal, &Refusal{"Required variable not set", fmt.Sprintf("The variable %q must not be null.", v.Name)}
		}
		return v.Default.WithSameMarks(converted), nil
	}
	return converted, nil
}

// HasConstants reports whether the module has constant variables.
func (d *Directory) HasConstants() bool { return len(d.constantVariables()) > 0 }

// constantVariables returns the constant variables of a module, by name.
func (d *Directory) constantVariables() []*Variable {
	var found []*Variable
	for _, name := range slices.Sorted(maps.Keys(d.Variables)) {
		if variable := d.Variables[name]; variable.Const != nil {
			found = append(found, variable)
		}
	}
	return found
}

// constantVariable decodes the argument const of a variable.
func (d *decoder) constantVariable(content *hcl.BodyContent, v *Variable) {
	attr := content.Attributes["const"]
	if attr == nil {
		return
	}
	d.since("1.15", "constant variables", attr.NameRange)
	var isConst bool
	d.report(decodeBool(content, "const", &isConst))
	if v.Const = nil; isConst { // one in an override file replaces the other
		v.Const = &attr.Range
	}
}

func decodeType(variable *engine.Variable, expr hcl.Expression) hcl.Diagnostics {
	switch legacyTypeName(expr) {
	case "string":
		variable.Type, variable.Defaults = cty.String, nil
		return nil
	case "list":
		variable.Type, variable.Defaults = cty.List(cty.DynamicPseudoType), nil
		return nil
	case "map":
		variable.Type, variable.Defaults = cty.Map(cty.DynamicPseudoType), nil
		return nil
	}
	ty, defaults, diags := typeexpr.TypeConstraintWithDefaults(expr)
	if diags.HasErrors() {
		return diags
	}
	variable.Type, variable.Defaults = ty, defaults
	return diags
}

// legacyTypeName recognises types that are not part of the type constraint syntax, but accepted:
// the words list and map alone, and quoted names of types.
func legacyTypeName(expr hcl.Expression) string {
	if keyword := hcl.ExprAsKeyword(expr); keyword == "list" || keyword == "map" {
		return keyword
	}
	if value, diags := expr.Value(nil); !diags.HasErrors() && value.Type() == cty.String && !value.IsNull() {
		return value.AsString()
	}
	return ""
}

func decodeDefault(variable *engine.Variable, expr hcl.Expression) hcl.Diagnostics {
	value, diags := expr.Value(nil)
	if diags.HasErrors() {
		variable.Default = cty.UnknownVal(variable.Type.WithoutOptionalAttributesDeep())
		return diags
	}
	variable.Default = convertDefault(variable, value, &diags, expr.Range())
	return diags
}

func convertDefault(variable *engine.Variable, value cty.Value, diags *hcl.Diagnostics, subject hcl.Range) cty.Value {
	if !value.IsNull() {
		value = variable.ApplyDefaults(value)
	}
	converted, err := bounds.Convert(value, variable.Type)
	if err != nil {
		*diags = diags.Append(failure.At(subject, "Invalid default value for variable",
			"The default of variable %q does not fit its type: %s.", variable.Name, err))
		return cty.UnknownVal(variable.Type.WithoutOptionalAttributesDeep())
	}
	return converted
}
