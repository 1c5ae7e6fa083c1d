// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package inputs_test

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/inputs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// variables are one that is required and one with a default, of a module and of a stack.
var (
	module = &engine.Module{Variables: map[string]*engine.Variable{
		"name": {Name: "name", Type: cty.String},
		"size": {Name: "size", Type: cty.Number, Default: cty.NumberIntVal(3)},
	}}
	stack = &stackconfig.Stack{Variables: map[string]*stackconfig.InputVariable{
		"name": {Name: "name", Type: stackconfig.Type{Constraint: cty.String}},
		"size": {Name: "size", Type: stackconfig.Type{Constraint: cty.Number}, Default: cty.NumberIntVal(3)},
	}}
)

func TestFromArgument(t *testing.T) {
	text, number := cty.StringVal, cty.NumberIntVal
	ofModule, ofStack := inputs.OfModule(module), inputs.OfStack(stack)
	for name, test := range map[string]struct {
		set        inputs.Set
		argument   string
		name, size cty.Value
		at         string // text of the faulty part, if any
	}{
		"given":                   {ofModule, `{ name = "n", size = 4 }`, text("n"), number(4), ""},
		"converted":               {ofModule, `{ name = 1, size = "4" }`, text("1"), number(4), ""},
		"default":                 {ofModule, `{ name = "n" }`, text("n"), number(3), ""},
		"null is the default":     {ofModule, `{ name = "n", size = null }`, text("n"), number(3), ""},
		"not declared":            {ofModule, `{ name = "n", other = 1 }`, text("n"), number(3), ""},
		"null for a module":       {ofModule, `{ name = null }`, cty.NullVal(cty.String), number(3), ""},
		"null for a stack":        {ofStack, `{ name = null }`, failed(cty.String), number(3), `{ name = null }`},
		"missing":                 {ofModule, `{ size = 4 }`, failed(cty.String), number(4), `{ size = 4 }`},
		"wrong type":              {ofModule, `{ name = "n", size = ["x"] }`, text("n"), failed(cty.Number), `["x"]`},
		"no object":               {ofModule, `"x"`, failed(cty.String), failed(cty.Number), `"x"`},
		"unknown as a whole":      {ofModule, `open`, cty.UnknownVal(cty.String), cty.UnknownVal(cty.Number), ""},
		"sensitive as a whole":    {ofModule, `secret`, text("s").Mark(marks.Sensitive), number(3), ""},
		"ephemeral, not declared": {ofModule, `{ name = passing }`, failed(cty.String), number(3), `passing`},
		"infinite":                {ofModule, `{ name = "n", size = 1/0 }`, text("n"), failed(cty.Number), `1/0`},
	} {
		t.Run(name, func(t *testing.T) {
			e, diags := hclsyntax.ParseExpression([]byte(test.argument), "test", hcl.InitialPos)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			value, diags := e.Value(&hcl.EvalContext{Variables: map[string]cty.Value{
				"open":    cty.DynamicVal,
				"secret":  cty.ObjectVal(map[string]cty.Value{"name": text("s")}).Mark(marks.Sensitive),
				"passing": text("p").Mark(marks.Ephemeral),
			}})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			got, diags := test.set.FromArgument(expr.Result{Value: value, Expression: e})
			for name, want := range map[string]cty.Value{"name": test.name, "size": test.size} {
				if !got[name].RawEquals(want) {
					t.Errorf("%s: got %#v, want %#v", name, got[name], want)
				}
			}
			at := ""
			for _, diag := range diags {
				at += string(diag.Subject.SliceBytes([]byte(test.argument)))
			}
			if at != test.at {
				t.Errorf("diagnostics at %q, want %q: %v", at, test.at, diags)
			}
		})
	}
}

func failed(ty cty.Type) cty.Value { return expr.Placeholder(ty) }

func TestWithoutArgument(t *testing.T) {
	if _, diags := inputs.OfModule(module).WithoutArgument(hcl.Range{}); len(diags) != 1 || diags[0].Summary != "Component needs inputs" {
		t.Errorf(`got %v, want "Component needs inputs"`, diags)
	}
	optional := &engine.Module{Variables: map[string]*engine.Variable{"size": module.Variables["size"]}}
	got, diags := inputs.OfModule(optional).WithoutArgument(hcl.Range{})
	if len(diags) > 0 || !got["size"].RawEquals(cty.NumberIntVal(3)) {
		t.Errorf("got %#v, %v, want the default", got, diags)
	}
}

// Where the argument cannot be evaluated, variables that it does not name are missing all the same.
func TestFromFailed(t *testing.T) {
	for argument, missing := range map[string]bool{
		`{ name = nope }`:         false,
		`{ "name" = nope }`:       false,
		`{ size = nope }`:         true,
		`{ (nope) = 1 }`:          false,
		`merge({ size = 4 }, no)`: false,
	} {
		for _, set := range []inputs.Set{inputs.OfModule(module), inputs.OfStack(stack)} {
			e, diags := hclsyntax.ParseExpression([]byte(argument), "test", hcl.InitialPos)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			values, diags := set.FromFailed(expr.Result{Expression: e})
			if len(values) != 2 || diags.HasErrors() != missing {
				t.Errorf("%s: %v, %s; missing is %t", argument, values, diags, missing)
			}
		}
	}
}
