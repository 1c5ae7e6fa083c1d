// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"reflect"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/bounds"
)

// Constraint is a type with the defaults of its optional attributes.
type Constraint struct {
	Type     cty.Type           // with its optional attributes
	Defaults *typeexpr.Defaults // nil without any
}

// Convert fills in defaults and converts a value to the type. The error is one of package convert.
func (c Constraint) Convert(value cty.Value) (cty.Value, error) {
	if c.Defaults != nil && !value.IsNull() {
		value = c.Defaults.Apply(value)
	}
	return bounds.Convert(value, c.Type)
}

// constraintType is the type of arguments that are type expressions and no values: HCL lets the
// type decode them.
var constraintType = func() (ty cty.Type) {
	decode := func(expr hcl.Expression, _ *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
		want, defaults, diags := typeexpr.TypeConstraintWithDefaults(expr)
		if diags.HasErrors() {
			return cty.NilVal, diags
		}
		return cty.CapsuleVal(ty, &Constraint{want, defaults}), nil
	}
	ty = cty.CapsuleWithOps("type", reflect.TypeFor[Constraint](), &cty.CapsuleOps{ExtensionData: func(key any) any {
		if key != customdecode.CustomExpressionDecoder {
			return nil
		}
		return customdecode.CustomExpressionDecoderFunc(decode)
	}})
	return ty
}()

// convertFunction is the function of terraform 1.15, not that of package typeexpr, which knows no
// optional attributes.
var convertFunction = function.New(&function.Spec{
	Description: "Converts a value to a type.",
	Params:      []function.Parameter{anyValue("value"), {Name: "type", Type: constraintType}},
	Type: func(args []cty.Value) (cty.Type, error) {
		converted, err := convertTo(args)
		return converted.Type(), err
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return convertTo(args) },
})

func convertTo(args []cty.Value) (cty.Value, error) {
	want := args[1].EncapsulatedValue().(*Constraint)
	converted, err := want.Convert(args[0])
	if err != nil {
		return cty.DynamicVal, conversionError(args[0], want.Type)
	}
	return converted, nil
}

var typeWords = []string{"any", "bool", "number", "string"}

// IsTypeWord reports whether a reference is a word that stands for a type in a call of convert.
// Elsewhere it leads nowhere, as evaluating it reports: no expression can use a resource type
// alone.
func IsTypeWord(traversal hcl.Traversal) bool {
	return len(traversal) == 1 && slices.Contains(typeWords, traversal.RootName())
}
