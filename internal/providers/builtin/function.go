// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// function is a function of the provider.
type function struct {
	signature engine.Function
	call      func(cty.Value) (cty.Value, error)
}

// functions are all there are. Each has one parameter.
var functions = map[string]function{
	"decode_tfvars": {
		signature: engine.Function{
			Summary:    "Decodes the content of a file of variable definitions",
			Parameters: []engine.FunctionParameter{{Name: "src", Type: cty.String}},
			Return:     cty.DynamicPseudoType,
		},
		call: decodeVariables,
	},
	"encode_tfvars": {
		signature: engine.Function{
			Summary:    "Writes an object as the content of a file of variable definitions",
			Parameters: []engine.FunctionParameter{{Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true}},
			Return:     cty.String,
		},
		call: encodeVariables,
	},
	"encode_expr": {
		signature: engine.Function{
			Summary:    "Writes a value as an expression",
			Parameters: []engine.FunctionParameter{{Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true}},
			Return:     cty.String,
		},
		call: encodeExpression,
	},
}

func signatures() map[string]*engine.Function {
	all := make(map[string]*engine.Function, len(functions))
	for name, f := range functions {
		all[name] = &f.signature
	}
	return all
}

// CallFunction implements [provider.Provider].
func (p *Provider) CallFunction(_ context.Context, name string, args []cty.Value) (cty.Value, error) {
	f, ok := functions[name]
	if !ok {
		return cty.NilVal, fmt.Errorf("the provider %s has no function %q", Address, name)
	}
	if len(args) != 1 {
		return cty.NilVal, fmt.Errorf("%d arguments for function %q, which has 1 parameter", len(args), name)
	}
	return f.call(args[0])
}

// refusal is the error for an argument. Terraform blames the call, not the argument.
func refusal(format string, args ...any) error {
	return &engine.FunctionError{Said: fmt.Sprintf(format, args...), Argument: -1}
}

// variablesFile stands for a file in messages.
const variablesFile = "src"

func decodeVariables(src cty.Value) (cty.Value, error) {
	text := []byte(src.AsString())
	file, diags := safehcl.ParseConfig(text, variablesFile, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, refusal("the content is not valid: %s", diags)
	}
	attrs, diags := file.Body.JustAttributes()
	if diags.HasErrors() {
		return cty.NilVal, refusal("the content is not valid: %s", diags)
	}
	values := make(map[string]cty.Value, len(attrs))
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		value, diags := attrs[name].Expr.Value(nil)
		if diags.HasErrors() {
			return cty.NilVal, refusal("the value of variable %q is not valid: %s", name, diags)
		}
		values[name] = value
	}
	return cty.ObjectVal(values), nil
}

func encodeVariables(v cty.Value) (cty.Value, error) {
	if ty := v.Type(); ty != cty.DynamicPseudoType && !ty.IsObjectType() && !ty.IsMapType() {
		return cty.NilVal, refusal("the value is not an object with an attribute for each variable")
	}
	if !v.IsWhollyKnown() {
		return cty.UnknownVal(cty.String).RefineNotNull(), nil
	}
	values := v.AsValueMap()
	file := hclwrite.NewEmptyFile()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !hclsyntax.ValidIdentifier(name) {
			return cty.NilVal, refusal("%q cannot be the name of a variable, which is an identifier", name)
		}
		file.Body().SetAttributeValue(name, values[name])
	}
	return cty.StringVal(string(hclwrite.Format(file.Bytes()))), nil
}

// encodeExpression writes a value. The beginning of an unknown text is promised where there is no
// doubt.
func encodeExpression(v cty.Value) (cty.Value, error) {
	if v.IsWhollyKnown() {
		var text strings.Builder
		_, err := hclwrite.TokensForValue(v).WriteTo(&text)
		return cty.StringVal(text.String()), err
	}
	unknown := cty.UnknownVal(cty.String).Refine().NotNull()
	if ty := v.Type(); v.Range().DefinitelyNotNull() {
		switch {
		case ty.IsObjectType() || ty.IsMapType():
			unknown = unknown.StringPrefixFull("{")
		case ty.IsTupleType() || ty.IsListType() || ty.IsSetType():
			unknown = unknown.StringPrefixFull("[")
		case ty == cty.String:
			unknown = unknown.StringPrefixFull(`"`)
		}
	}
	return unknown.NewValue(), nil
}
