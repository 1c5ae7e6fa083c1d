// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package foreach_test

import (
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcltest"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func fromValue(v cty.Value) (foreach.Set, hcl.Diagnostics) {
	return foreach.FromValue(expr.Result{Value: v, Expression: hcltest.MockExprLiteral(v)}, "component")
}

func TestRowsForEachAccepts(t *testing.T) {
	str := cty.StringVal
	tests := map[string]struct {
		value cty.Value
		kind  foreach.Kind
		keys  []string
	}{
		"218 empty object": {cty.EmptyObjectVal, foreach.Keyed, nil},
		"218 object":       {cty.ObjectVal(map[string]cty.Value{"a": str("x"), "b": cty.True}), foreach.Keyed, []string{"a", "b"}},
		"218 map of objects": {
			cty.MapVal(map[string]cty.Value{"k": cty.ObjectVal(map[string]cty.Value{"a": str("v")})}),
			foreach.Keyed,
			[]string{"k"},
		},
		"218 empty map of objects":     {cty.MapValEmpty(cty.EmptyObject), foreach.Keyed, nil},
		"218 empty set of any":         {cty.SetValEmpty(cty.DynamicPseudoType), foreach.Keyed, nil},
		"218 empty map of string":      {cty.MapValEmpty(cty.String), foreach.Keyed, nil},
		"218 map of string":            {cty.MapVal(map[string]cty.Value{"k": str("v")}), foreach.Keyed, []string{"k"}},
		"218 map of unknown values":    {cty.MapVal(map[string]cty.Value{"k": cty.UnknownVal(cty.String)}), foreach.Keyed, []string{"k"}},
		"218 map of sensitive values":  {cty.MapVal(map[string]cty.Value{"k": str("v").Mark(marks.Sensitive)}), foreach.Keyed, []string{"k"}},
		"218 set of string":            {cty.SetVal([]cty.Value{str("b"), str("a")}), foreach.Keyed, []string{"a", "b"}},
		"218 empty set of string":      {cty.SetValEmpty(cty.String), foreach.Keyed, nil},
		"218 empty set of number":      {cty.SetValEmpty(cty.Number), foreach.Keyed, nil},
		"219 unknown map":              {cty.UnknownVal(cty.Map(cty.String)), foreach.Unknown, nil},
		"219 unknown set":              {cty.UnknownVal(cty.Set(cty.String)), foreach.Unknown, nil},
		"219 set with unknown element": {cty.SetVal([]cty.Value{cty.UnknownVal(cty.String)}), foreach.Unknown, nil},
		"219 unknown object":           {cty.UnknownVal(cty.Object(map[string]cty.Type{"a": cty.String})), foreach.Unknown, nil},
		"219 dynamic":                  {cty.DynamicVal, foreach.Unknown, nil},
		"219 unknown list of any":      {cty.UnknownVal(cty.List(cty.DynamicPseudoType)), foreach.Unknown, nil},
		"placeholder":                  {expr.Placeholder(cty.DynamicPseudoType), foreach.Failed, nil},
		"placeholder of known type":    {expr.Placeholder(cty.List(cty.String)), foreach.Failed, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set, diags := fromValue(test.value)
			if diags.HasErrors() {
				t.Fatalf("FromValue(%#v): %s", test.value, diags)
			}
			if set.Kind != test.kind {
				t.Errorf("kind of %#v = %v, want %v", test.value, set.Kind, test.kind)
			}
			none := func() []stackaddrs.InstanceKey { return nil }
			expansion := foreach.Expand(set, none, func(key stackaddrs.InstanceKey, _ foreach.Repetition) string { return key.String() })
			var got []string
			for key := range expansion.InOrder() {
				s, _ := key.AsString()
				got = append(got, s)
			}
			if !slices.Equal(got, test.keys) {
				t.Errorf("keys of %#v = %q, want %q", test.value, got, test.keys)
			}
		})
	}
}

func TestRowsForEachRejects(t *testing.T) {
	str := cty.StringVal
	tests := map[string]struct {
		value cty.Value
		want  string
	}{
		"220 sensitive map":          {cty.MapVal(map[string]cty.Value{"k": str("v")}).Mark(marks.Sensitive), "for_each cannot be sensitive"},
		"220 set of sensitive":       {cty.SetVal([]cty.Value{str("v").Mark(marks.Sensitive)}), "for_each cannot be sensitive"},
		"ephemeral map":              {cty.MapVal(map[string]cty.Value{"k": str("v")}).Mark(marks.Ephemeral), "for_each cannot be ephemeral"},
		"220 sensitive set":          {cty.SetVal([]cty.Value{str("v")}).Mark(marks.Sensitive), "for_each cannot be sensitive"},
		"220 null set":               {cty.NullVal(cty.Set(cty.String)), "for_each cannot be null"},
		"220 null object":            {cty.NullVal(cty.EmptyObject), "for_each cannot be null"},
		"220 null string":            {cty.NullVal(cty.String), "for_each cannot be null"},
		"220 null map":               {cty.NullVal(cty.Map(cty.String)), "for_each cannot be null"},
		"220 null of any type":       {cty.NullVal(cty.DynamicPseudoType), "for_each cannot be null"},
		"220 set with null":          {cty.SetVal([]cty.Value{cty.NullVal(cty.String)}), "for_each cannot contain null"},
		"220 set of numbers":         {cty.SetVal([]cty.Value{cty.NumberIntVal(1)}), "for_each set must hold strings"},
		"220 string":                 {str("a"), "for_each needs a map, an object or a set of strings"},
		"220 unknown string":         {cty.UnknownVal(cty.String), "for_each needs a map, an object or a set of strings"},
		"220 list":                   {cty.ListVal([]cty.Value{str("a")}), "for_each needs a map, an object or a set of strings"},
		"220 unknown list of string": {cty.UnknownVal(cty.List(cty.String)), "for_each needs a map, an object or a set of strings"},
		"220 tuple":                  {cty.TupleVal([]cty.Value{str("a")}), "for_each needs a map, an object or a set of strings"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set, diags := fromValue(test.value)
			if len(diags) != 1 || diags[0].Summary != test.want {
				t.Errorf("FromValue(%#v) = %v, want one error %q", test.value, diags, test.want)
			}
			if set.Kind != foreach.Failed {
				t.Errorf("kind of %#v = %v, want Failed", test.value, set.Kind)
			}
		})
	}
}

func TestRow221EachValue(t *testing.T) {
	values := map[string]cty.Value{"a": cty.True, "b": cty.StringVal("x")}
	set, diags := fromValue(cty.ObjectVal(values))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	expansion := foreach.Expand(set, nil, func(_ stackaddrs.InstanceKey, r foreach.Repetition) foreach.Repetition { return r })
	for name, want := range values {
		got := expansion.Instances[stackaddrs.StringKey(name)]
		if !got.Key.RawEquals(cty.StringVal(name)) || !got.Value.RawEquals(want) {
			t.Errorf("repetition of %q = %#v, want each.value %#v", name, got, want)
		}
	}
}

func TestRow221StandInsOfUnknownSets(t *testing.T) {
	set, diags := fromValue(cty.UnknownVal(cty.Map(cty.Number)))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	a, b, wildcard := stackaddrs.StringKey("a"), stackaddrs.StringKey("b"), stackaddrs.WildcardKey
	for name, test := range map[string]struct {
		existing []stackaddrs.InstanceKey
		claimed  []stackaddrs.InstanceKey
		want     []stackaddrs.InstanceKey
	}{
		"nothing there":    {nil, nil, []stackaddrs.InstanceKey{wildcard}},
		"instances there":  {[]stackaddrs.InstanceKey{b, a}, nil, []stackaddrs.InstanceKey{a, b}},
		"one claimed":      {[]stackaddrs.InstanceKey{b, a}, []stackaddrs.InstanceKey{a}, []stackaddrs.InstanceKey{b}},
		"everyone claimed": {[]stackaddrs.InstanceKey{b, a}, []stackaddrs.InstanceKey{a, b}, []stackaddrs.InstanceKey{wildcard}},
	} {
		t.Run(name, func(t *testing.T) {
			expansion := foreach.Expand(set, func() []stackaddrs.InstanceKey { return test.existing },
				func(key stackaddrs.InstanceKey, r foreach.Repetition) foreach.Repetition {
					if !r.StandIn || r.Value.IsKnown() || !r.Value.Type().Equals(cty.Number) || r.Key.IsKnown() == key.IsWildcard() {
						t.Errorf("repetition for %s = %#v", key, r)
					}
					return r
				})
			var got []stackaddrs.InstanceKey
			for key := range expansion.StandInsExcept(func(key stackaddrs.InstanceKey) bool { return slices.Contains(test.claimed, key) }) {
				got = append(got, key)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("stand-ins = %v, want %v", got, test.want)
			}
		})
	}
}
