// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin_test

import (
	"maps"
	"testing"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// data is an object of terraform_data that stores nothing.
func data(id, input, output, triggers cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"id": id, "input": input, "output": output, "triggers_replace": triggers, "store": noStore,
	})
}

// storing is an object of terraform_data with a block store, of which arguments that are not given
// are null.
func storing(id cty.Value, arguments map[string]cty.Value) cty.Value {
	attrs := map[string]cty.Value{
		"input": null, "output": null, "replace": noBool, "sensitive": noBool, "sensitive_output": null, "version": null,
	}
	maps.Copy(attrs, arguments)
	object := data(id, null, null, null).AsValueMap()
	object["store"] = cty.ObjectVal(attrs)
	return cty.ObjectVal(object)
}

var (
	noBool   = cty.NullVal(cty.Bool)
	noStore  = cty.NullVal(builtin.TypeOf(stackaddrs.ManagedResource, "terraform_data").AttributeType("store"))
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

// The wanted plans are those of terraform 1.16 for the same configurations.
func TestPlanStore(t *testing.T) {
	type block = map[string]cty.Value
	one, two, yes := cty.NumberIntVal(1), cty.NumberIntVal(2), cty.True
	tests := map[string]struct {
		prior, config, want block // nil without one
		replace             bool
	}{
		"new":                       {nil, block{"input": a}, block{"output": later}, false},
		"new with a version":        {nil, block{"input": a, "version": one}, block{"output": later, "version": one}, false},
		"new and sensitive":         {nil, block{"input": a, "sensitive": yes}, block{"sensitive": yes, "sensitive_output": later}, false},
		"new and empty":             {nil, block{}, block{}, false},
		"new with a null":           {nil, block{"input": noString}, block{"output": noString}, false},
		"new, to be replaced later": {nil, block{"input": a, "replace": yes}, block{"output": later, "replace": yes}, false},
		"same":                      {block{"output": a}, block{"input": a}, block{"output": a}, false},
		"other":                     {block{"output": a}, block{"input": b}, block{"output": later}, false},
		"null":                      {block{"output": a}, block{}, block{"output": cty.UnknownVal(cty.DynamicPseudoType)}, false},
		"unknown":                   {block{"output": a}, block{"input": prefixed}, block{"output": later}, false},
		"same version": {
			block{"output": a, "version": one}, block{"input": b, "version": one}, block{"output": a, "version": one}, false,
		},
		"same version without an input": {
			block{"output": a, "version": one}, block{"version": one}, block{"output": a, "version": one}, false,
		},
		"other version": {
			block{"output": a, "version": one}, block{"input": a, "version": two}, block{"output": later, "version": two}, false,
		},
		"unknown version": {
			block{"output": a, "version": one}, block{"input": a, "version": later}, block{"output": later, "version": later}, false,
		},
		"no version any more": {block{"output": a, "version": one}, block{"input": a}, block{"output": a}, false},
		"sensitive from now on": {
			block{"output": a}, block{"input": a, "sensitive": yes}, block{"sensitive": yes, "sensitive_output": a}, false,
		},
		"sensitive no more": {
			block{"sensitive": yes, "sensitive_output": a},
			block{"input": a, "sensitive": cty.False},
			block{"output": a, "sensitive": cty.False},
			false,
		},
		"replaced": {
			block{"output": a, "replace": yes}, block{"input": b, "replace": yes}, block{"output": later, "replace": yes}, true,
		},
		"replaced for a version": {
			block{"output": a, "version": one},
			block{"input": a, "replace": yes, "version": two},
			block{"output": later, "replace": yes, "version": two},
			true,
		},
		"kept":                {block{"output": a}, block{"input": a, "replace": yes}, block{"output": a, "replace": yes}, false},
		"gone":                {block{"output": a, "replace": yes}, nil, nil, false},
		"changes are ignored": {block{"output": a}, block{"output": a}, block{"output": a}, false},
	}
	object := func(id cty.Value, arguments block) cty.Value {
		if arguments == nil {
			return data(id, null, null, null)
		}
		return storing(id, arguments)
	}
	p := builtin.New(builtin.Options{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			wantID := id
			if test.replace {
				wantID = newID
			}
			config := object(noString, test.config)
			resp := p.Plan(t.Context(), provider.PlanRequest{
				Type: "terraform_data", Prior: object(id, test.prior), Proposed: object(id, test.config), Config: config,
			})
			if want := object(wantID, test.want); !resp.Planned.RawEquals(want) || resp.Diagnostics.HasErrors() {
				t.Fatalf("Plan: got %#v, diagnostics %v, want %#v", resp.Planned, resp.Diagnostics, want)
			}
			if replace := len(resp.RequiresReplace) > 0; replace != test.replace {
				t.Errorf("Plan: requires a replacement for %v, want one: %t", resp.RequiresReplace, test.replace)
			}
		})
	}
	for _, argument := range []string{"replace", "sensitive"} {
		config := storing(noString, block{"input": a, argument: cty.UnknownVal(cty.Bool)})
		resp := p.Plan(t.Context(), provider.PlanRequest{Type: "terraform_data", Prior: noObject, Proposed: config, Config: config})
		if !resp.Diagnostics.HasErrors() || !resp.Diagnostics[0].Path.Equals(cty.GetAttrPath("store").GetAttr(argument)) {
			t.Errorf("Plan with an unknown argument %s: got %#v, diagnostics %v, want an error", argument, resp.Planned, resp.Diagnostics)
		}
	}
}

// What is stored is the input while applying.
func TestApplyStore(t *testing.T) {
	yes := cty.True
	tests := map[string]struct{ planned, config, want map[string]cty.Value }{
		"stored":    {map[string]cty.Value{"output": later}, map[string]cty.Value{"input": b}, map[string]cty.Value{"output": b}},
		"unchanged": {map[string]cty.Value{"output": a}, map[string]cty.Value{"input": b}, map[string]cty.Value{"output": a}},
		"sensitive": {
			map[string]cty.Value{"sensitive": yes, "sensitive_output": later},
			map[string]cty.Value{"sensitive": yes, "input": b},
			map[string]cty.Value{"sensitive": yes, "sensitive_output": b},
		},
	}
	p := builtin.New(builtin.Options{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := p.Apply(t.Context(), provider.ApplyRequest{
				Type: "terraform_data", Planned: storing(id, test.planned), Config: storing(noString, test.config),
			}).New
			if want := storing(id, test.want); !got.RawEquals(want) {
				t.Errorf("Apply: got %#v, want %#v", got, want)
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
			got := p.Apply(t.Context(), provider.ApplyRequest{
				Type: "terraform_data", Planned: test.planned, Config: data(noString, null, null, null),
			}).New
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
		"stored": {
			`{"id":"i","input":null,"output":null,"triggers_replace":null,"store":{"input":null,"output":{"value":"a","type":"string"},` +
				`"replace":null,"sensitive":null,"sensitive_output":null,"version":{"value":1,"type":"number"}}}`,
			storing(id, map[string]cty.Value{"output": a, "version": cty.NumberIntVal(1)}),
		},
		"nothing stored": {
			`{"id":"i","input":null,"output":null,"triggers_replace":null,"store":null}`, data(id, null, null, null),
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
