// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package variables_test

import (
	"os"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

func declare(name string, ty cty.Type) map[string]*stackconfig.InputVariable {
	return map[string]*stackconfig.InputVariable{name: {Name: name, Type: stackconfig.Type{Constraint: ty}}}
}

// A value of a program is converted like a written one, and needs no place.
func TestReadValues(t *testing.T) {
	for name, tc := range map[string]struct {
		arguments []variables.Argument
		want      cty.Value // of the variable "size", a number
		wantError string    // summary
	}{
		"as it is":   {arguments: []variables.Argument{{Name: "size", Value: cty.NumberIntVal(3)}}, want: cty.NumberIntVal(3)},
		"converted":  {arguments: []variables.Argument{{Name: "size", Value: cty.StringVal("3")}}, want: cty.NumberIntVal(3)},
		"marked":     {arguments: []variables.Argument{{Name: "size", Value: cty.NumberIntVal(3).Mark("secret")}}, want: cty.NumberIntVal(3)},
		"unknown":    {arguments: []variables.Argument{{Name: "size", Value: cty.DynamicVal}}, want: cty.UnknownVal(cty.Number)},
		"none":       {arguments: []variables.Argument{{Name: "size"}}, want: cty.NullVal(cty.Number)},
		"later wins": {arguments: []variables.Argument{{Text: "size=1"}, {Name: "size", Value: cty.NumberIntVal(3)}}, want: cty.NumberIntVal(3)},
		"earlier loses": {
			arguments: []variables.Argument{{Name: "size", Value: cty.DynamicVal}, {Text: "size=1"}}, want: cty.NumberIntVal(1),
		},
		"other type": {arguments: []variables.Argument{{Name: "size", Value: cty.EmptyObjectVal}}, wantError: "Value does not fit the variable"},
		"undeclared": {arguments: []variables.Argument{{Name: "sizee", Value: cty.True}}, wantError: "Value for undeclared variable"},
	} {
		t.Run(name, func(t *testing.T) {
			given, diags := variables.Read(declare("size", cty.Number), variables.Sources{Environ: os.Environ(), Arguments: tc.arguments},
				map[string]*hcl.File{})
			if tc.wantError != "" {
				if len(diags) != 1 || diags[0].Summary != tc.wantError || diags[0].Subject != nil {
					t.Errorf("diagnostics: %v, want %q without a place", diags, tc.wantError)
				}
				return
			}
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			if got := given.Values["size"]; !got.RawEquals(tc.want) {
				t.Errorf("got %#v, want %#v", got, tc.want)
			}
			if _, unknown := given.Unknown["size"]; unknown == tc.want.IsWhollyKnown() {
				t.Errorf("is among the unknown ones: %t", unknown)
			}
		})
	}
}

func TestRequireKnown(t *testing.T) {
	declared := declare("size", cty.Number)
	given, diags := variables.Read(declared, variables.Sources{Arguments: []variables.Argument{{Name: "size", Value: cty.DynamicVal}}},
		map[string]*hcl.File{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	diags = variables.RequireKnown(declared, given)
	const want = "The value that is given for var.size is not known yet. " +
		"Give it, or save a plan now, and apply it when the value is known. Nothing was done."
	if len(diags) != 1 || diags[0].Detail != want {
		t.Errorf("RequireKnown: %v, want %q", diags, want)
	}
}
