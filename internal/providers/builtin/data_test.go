// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
)

// data is an object of terraform_data.
func data(id, input, output, triggers cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"id": id, "input": input, "output": output, "triggers_replace": triggers})
}

var (
	null     = cty.NullVal(cty.DynamicPseudoType)
	noString = cty.NullVal(cty.String)
	noObject = cty.NullVal(cty.DynamicPseudoType)
	a, b, id = cty.StringVal("a"), cty.StringVal("b"), cty.StringVal("i")
	newID    = cty.UnknownVal(cty.String).RefineNotNull()
	later    = cty.UnknownVal(cty.String)
	prefixed = cty.UnknownVal(cty.String).Refine().NotNull().StringPrefix("x-").NewValue()
	list     = cty.ListVal([]cty.Value{a})
	partial  = cty.ObjectVal(map[string]cty.Value{"a": later, "b": cty.True})
)

// The wanted plans are those of terraform 1.11.4 for the same objects.
func TestPlanData(t *testing.T) {
	tests := map[string]struct {
		prior, proposed, want cty.Value
		replace               bool
	}{
		"create":                   {noObject, data(noString, a, null, null), data(newID, a, later, null), false},
		"create with nothing":      {noObject, data(noString, null, null, null), data(newID, null, null, null), false},
		"create with a typed null": {noObject, data(noString, noString, null, null), data(newID, noString, noString, null), false},
		"create with an unknown":   {noObject, data(noString, prefixed, null, null), data(newID, prefixed, later, null), false},
		"create, unknown in part": {
			noObject,
			data(noString, partial, null, null),
			data(newID, partial, cty.UnknownVal(partial.Type()), null),
			false,
		},
		"create with a list": {noObject, data(noString, list, null, null), data(newID, list, cty.UnknownVal(list.Type()), null), false},
		"no change":          {data(id, a, a, b), data(id, a, a, b), data(id, a, a, b), false},
		"another input":      {data(id, a, a, null), data(id, b, a, null), data(id, b, later, null), false},
		"input of another type": {
			data(id, list, list, null),
			data(id, cty.SetVal([]cty.Value{a}), list, null),
			data(id, cty.SetVal([]cty.Value{a}), cty.UnknownVal(cty.Set(cty.String)), null),
			false,
		},
		"no input any more":         {data(id, a, a, null), data(id, noString, a, null), data(id, noString, later, null), false},
		"an unknown input":          {data(id, a, a, null), data(id, later, a, null), data(id, later, later, null), false},
		"other triggers":            {data(id, a, a, a), data(id, a, a, b), data(newID, a, later, b), true},
		"triggers without an input": {data(id, null, null, a), data(id, null, null, later), data(newID, null, null, later), true},
		"all different":             {data(id, a, a, a), data(id, noString, a, b), data(newID, noString, noString, b), true},
		"null of another type":      {data(id, a, a, noString), data(id, a, a, null), data(newID, a, later, null), true},
		"destroy":                   {data(id, a, a, null), noObject, noObject, false},
	}
	p := builtin.New(builtin.Options{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			resp := p.Plan(t.Context(), provider.PlanRequest{
				Type:     "terraform_data",
				Prior:    test.prior,
				Proposed: test.proposed,
				Config:   test.proposed,
			})
			if !resp.Planned.RawEquals(test.want) || resp.Diagnostics.HasErrors() {
				t.Errorf("Plan: got %#v, diagnostics %v, want %#v", resp.Planned, resp.Diagnostics, test.want)
			}
			if replace := len(resp.RequiresReplace) > 0; replace != test.replace {
				t.Errorf("Plan: requires a replacement for %v, want one: %t", resp.RequiresReplace, test.replace)
			}
		})
	}
}

func TestApplyData(t *testing.T) {
	tests := map[string]struct{ planned, want cty.Value }{
		"create":              {data(newID, a, later, null), data(newID, a, a, null)},
		"update":              {data(id, list, cty.UnknownVal(list.Type()), b), data(id, list, list, b)},
		"only the id changes": {data(newID, null, null, null), data(newID, null, null, null)},
		"nothing to do":       {data(id, a, a, null), data(id, a, a, null)},
		"destroy":             {noObject, noObject},
	}
	p := builtin.New(builtin.Options{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := p.Apply(t.Context(), provider.ApplyRequest{Type: "terraform_data", Planned: test.planned}).New
			if !test.want.IsNull() && !test.want.GetAttr("id").IsKnown() {
				made := got.GetAttr("id")
				if _, err := uuid.Parse(made.AsString()); err != nil {
					t.Errorf("Apply: made the id %#v: %v", made, err)
				}
				test.want = data(made, test.want.GetAttr("input"), test.want.GetAttr("output"), test.want.GetAttr("triggers_replace"))
			}
			if !got.RawEquals(test.want) {
				t.Errorf("Apply: got %#v, want %#v", got, test.want)
			}
		})
	}
}

func TestUpgradeData(t *testing.T) {
	tests := map[string]struct {
		json string
		want cty.Value // NilVal for an error
	}{
		"typed": {
			`{"id":"i","input":{"value":["a"],"type":["list","string"]},"output":{"value":null,"type":"string"},"triggers_replace":null}`,
			data(id, list, noString, null),
		},
		"broken":  {`{"id":`, cty.NilVal},
		"nothing": {"", cty.NilVal},
		"strange": {`{"id":"i","input":"a","output":null,"triggers_replace":null}`, cty.NilVal},
	}
	p := builtin.New(builtin.Options{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, diags := p.UpgradeState(t.Context(), provider.UpgradeStateRequest{Type: "terraform_data", JSON: []byte(test.json)})
			if test.want == cty.NilVal {
				if !diags.HasErrors() {
					t.Errorf("UpgradeState(%s): got %#v, want an error", test.json, got)
				}
				return
			}
			if diags.HasErrors() || !got.RawEquals(test.want) {
				t.Errorf("UpgradeState(%s): got %#v, diagnostics %v, want %#v", test.json, got, diags, test.want)
			}
		})
	}
}

func TestImportData(t *testing.T) {
	resp := builtin.New(builtin.Options{}).Import(t.Context(), provider.ImportRequest{Type: "terraform_data", ID: "i"})
	if len(resp.Objects) != 1 || !resp.Objects[0].Object.RawEquals(data(id, null, null, null)) || resp.Objects[0].Type != "terraform_data" {
		t.Errorf("Import: got %#v", resp)
	}
}

func BenchmarkData(b *testing.B) {
	p := builtin.New(builtin.Options{})
	proposed := data(noString, a, null, null)
	b.ReportAllocs()
	for b.Loop() {
		planned := p.Plan(b.Context(), provider.PlanRequest{Type: "terraform_data", Prior: noObject, Proposed: proposed, Config: proposed})
		p.Apply(b.Context(), provider.ApplyRequest{Type: "terraform_data", Prior: noObject, Planned: planned.Planned, Config: proposed})
	}
}
