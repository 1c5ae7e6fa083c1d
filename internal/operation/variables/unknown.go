// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package variables

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Variables files stand for a value that is not known yet by unknown(TYPE), or in JSON by an object
// with unknownKey, whose value is the type. No value has that key by accident, and one with more
// keys than it is refused.
const (
	unknownName = "unknown"
	unknownKey  = "cairn:unknown"
)

// writtenType is the type of the argument of unknown(TYPE): a [cty.Type] that was read from an
// expression which is not evaluated.
var writtenType = newWrittenType()

func newWrittenType() (capsule cty.Type) {
	var decode customdecode.CustomExpressionDecoderFunc = func(expr hcl.Expression, _ *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
		ty, diags := stackconfig.ParseType(expr)
		if diags.HasErrors() {
			return cty.UnknownVal(capsule), diags
		}
		written := ty.WithoutOptional()
		return cty.CapsuleVal(capsule, &written), diags
	}
	return cty.CapsuleWithOps("type", reflect.TypeFor[cty.Type](), &cty.CapsuleOps{
		ExtensionData: func(key any) any {
			if key == customdecode.CustomExpressionDecoder {
				return decode
			}
			return nil
		},
	})
}

// unknownFunc is the function unknown(TYPE).
var unknownFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "type", Type: writtenType}},
	Type: func(args []cty.Value) (cty.Type, error) {
		return *args[0].EncapsulatedValue().(*cty.Type), nil // as newWrittenType makes it
	},
	Impl: func(_ []cty.Value, ty cty.Type) (cty.Value, error) { return cty.UnknownVal(ty), nil },
})

// valueInFile evaluates the expression of a variable in a variables file.
func valueInFile(expr hcl.Expression) (cty.Value, hcl.Diagnostics) {
	if _, native := expr.(hclsyntax.Expression); !native {
		value, diags := expr.Value(nil)
		if diags.HasErrors() {
			return value, diags
		}
		return withUnknowns(expr, value)
	}
	value, diags := expr.Value(&hcl.EvalContext{Functions: map[string]function.Function{unknownName: unknownFunc}})
	for _, diag := range diags {
		if call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](diag); ok {
			name := call.CalledFunctionNamespace() + call.CalledFunctionName()
			diag.Summary = "Function call not allowed here"
			diag.Detail = fmt.Sprintf("Values in variables files are written out, so %s can't be called. The only call is unknown(TYPE), for a "+
				"value that is not known yet.%s",
				name, nearest.DidYouMean(name, []string{unknownName}))
		}
	}
	return value, diags
}

// withUnknowns replaces the objects in the value of an expression in JSON that stand for unknown
// values.
func withUnknowns(expr hcl.Expression, value cty.Value) (cty.Value, hcl.Diagnostics) {
	switch ty := value.Type(); {
	case value.IsNull():
		return value, nil
	case ty.IsTupleType():
		elements, diags := hcl.ExprList(expr)
		if diags.HasErrors() {
			return cty.DynamicVal, diags
		}
		values := value.AsValueSlice()
		for i, element := range elements {
			part, moreDiags := withUnknowns(element, values[i])
			values[i], diags = part, diags.Extend(moreDiags)
		}
		return cty.TupleVal(values), diags
	case ty.IsObjectType():
		return withUnknownAttributes(expr, value)
	}
	return value, nil
}

func withUnknownAttributes(expr hcl.Expression, value cty.Value) (cty.Value, hcl.Diagnostics) {
	pairs, diags := hcl.ExprMap(expr)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	if value.Type().HasAttribute(unknownKey) {
		return unknownObject(expr, pairs)
	}
	attrs := value.AsValueMap()
	for _, pair := range pairs {
		key, moreDiags := pair.Key.Value(nil)
		diags = diags.Extend(moreDiags)
		if moreDiags.HasErrors() {
			continue
		}
		part, moreDiags := withUnknowns(pair.Value, attrs[key.AsString()])
		attrs[key.AsString()], diags = part, diags.Extend(moreDiags)
	}
	return cty.ObjectVal(attrs), diags
}

// unknownObject is the value that an object with the key stands for.
func unknownObject(expr hcl.Expression, pairs []hcl.KeyValuePair) (cty.Value, hcl.Diagnostics) {
	if len(pairs) > 1 {
		return cty.DynamicVal, hcl.Diagnostics{failure.At(expr.Range(), "Ambiguous value", "An object with the key %q stands for a value that "+
			"is not known yet, and has no other keys. Write it as {%[1]q: \"string\"}, with the type of the value.", unknownKey)}
	}
	ty, diags := stackconfig.ParseType(pairs[0].Value)
	return cty.UnknownVal(ty.WithoutOptional()), diags
}

// refuseUnknown reports a call of unknown(TYPE) in a value that is not part of a file, nil if there
// is none.
func refuseUnknown(expr hclsyntax.Expression) *hcl.Diagnostic {
	var found *hcl.Diagnostic
	hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics { //nolint:errcheck // it makes none
		if call, ok := node.(*hclsyntax.FunctionCallExpr); ok && call.Name == unknownName {
			found = failure.At(call.Range(), "Unknown value outside of a file",
				"Only a variables file can say that a value is not known yet. Write NAME = unknown(TYPE) into one.")
		}
		return nil
	})
	return found
}

// unknownAsText warns of a text that would be an unknown value in a file.
func unknownAsText(declared *stackconfig.InputVariable, text string, rng hcl.Range) hcl.Diagnostics {
	if declared.Type.Constraint != cty.String || !strings.HasPrefix(text, unknownName+"(") || !strings.HasSuffix(text, ")") {
		return nil
	}
	return hcl.Diagnostics{failure.WarningAt(rng, "Literal text for variable", "Here, texts for variables of type string are not evaluated, "+
		"so the value of var.%s is this text. To say that the value is not known yet, write it into a variables file.", declared.Name)}
}

// Unknown returns the variables with a value that is not known in whole, sorted by name.
func Unknown(declared map[string]*stackconfig.InputVariable, given Given) []*stackconfig.InputVariable {
	var unknown []*stackconfig.InputVariable
	for _, name := range slices.Sorted(maps.Keys(given.Unknown)) {
		unknown = append(unknown, declared[name])
	}
	return unknown
}

// RequireKnown reports the variables whose values are not known, for a command that plans and
// applies at once.
func RequireKnown(declared map[string]*stackconfig.InputVariable, given Given) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, variable := range Unknown(declared, given) {
		detail := fmt.Sprintf("The value that is given for var.%s is not known yet. Give it, or save a plan now, and apply it when the value "+
			"is known. Nothing was done.", variable.Name)
		if place := given.Unknown[variable.Name]; place != (hcl.Range{}) {
			detail = fmt.Sprintf("In %s, the value of var.%s is not known yet. Give it, or save a plan now, and apply it when the value is known. "+
				"Nothing was done.",
				place, variable.Name)
		}
		needed := fault.Value{Variable: variable.Name, Fleeting: variable.Ephemeral, Given: true, Plannable: true}
		diags = diags.Append(failure.With(needed, failure.At(variable.Range, "Value needed for variable", "%s", detail)))
	}
	return diags
}
