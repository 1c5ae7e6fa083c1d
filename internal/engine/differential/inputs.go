// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// readInputs returns the values of a file of inputs, of the types of the variables as stacks give
// them.
func readInputs(text []byte, variables map[string]*engine.Variable) (map[string]cty.Value, error) {
	file, diags := safehcl.ParseConfig(text, inputsFile, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	arguments, diags := file.Body.JustAttributes()
	if diags.HasErrors() {
		return nil, diags
	}
	scope := &hcl.EvalContext{Functions: map[string]function.Function{"unknown": unknownOf, "sensitive": sensitive, "ephemeral": ephemeral}}
	values := map[string]cty.Value{}
	for name, variable := range variables {
		values[name] = cty.NullVal(variable.Type.WithoutOptionalAttributesDeep())
		argument := arguments[name]
		if argument == nil {
			if !variable.Required() {
				values[name] = variable.Default
			}
			continue
		}
		value, diags := argument.Expr.Value(scope)
		if diags.HasErrors() {
			return nil, diags
		}
		value, err := convert.Convert(variable.ApplyDefaults(value), variable.Type)
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", name, err)
		}
		values[name] = value
		if variable.Sensitive {
			values[name] = value.Mark(marks.Sensitive)
		}
	}
	return values, nil
}

var (
	unknownOf = function.New(&function.Spec{
		Params: []function.Parameter{{Name: "type", Type: cty.String}},
		Type: func(args []cty.Value) (cty.Type, error) {
			expr, diags := safehcl.ParseExpression([]byte(args[0].AsString()), inputsFile, hcl.InitialPos)
			if diags.HasErrors() {
				return cty.NilType, diags
			}
			ty, diags := typeexpr.TypeConstraint(expr)
			if diags.HasErrors() {
				return cty.NilType, errors.New(diags.Error())
			}
			return ty, nil
		},
		Impl: func(_ []cty.Value, ty cty.Type) (cty.Value, error) { return cty.UnknownVal(ty), nil },
	})
	sensitive = marking(marks.Sensitive)
	ephemeral = marking(marks.Ephemeral)
)

// marking returns a function that marks its argument.
func marking(mark any) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{
			{Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowNull: true, AllowMarked: true, AllowDynamicType: true},
		},
		Type: func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0].Mark(mark), nil },
	})
}
