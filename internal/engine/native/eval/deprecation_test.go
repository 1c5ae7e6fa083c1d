// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// The deprecated parts of an object get their marks besides those that they have, at any depth.
func TestDeprecate(t *testing.T) {
	optional := func(name string) *schema.Attribute {
		return &schema.Attribute{Name: name, Type: cty.String, Optional: true}
	}
	old := optional("old")
	old.Deprecated, old.Deprecation = true, "It is old."
	pair := []*schema.Attribute{optional("kept"), old}
	block := &schema.Block{Attributes: pair}
	for name, nesting := range map[string]schema.Nesting{"list": schema.List, "map": schema.Map, "set": schema.Set} {
		block.Blocks = append(block.Blocks, &schema.NestedBlock{Name: name, Nesting: nesting, Block: &schema.Block{Attributes: pair}})
	}
	objects := func(old cty.Value, set func(cty.Value) cty.Value) cty.Value {
		inner := func(old cty.Value) cty.Value {
			return cty.ObjectVal(map[string]cty.Value{"kept": cty.StringVal("k").Mark(marks.Ephemeral), "old": old})
		}
		bare, _ := inner(old).UnmarkDeep()
		return cty.ObjectVal(map[string]cty.Value{
			"kept": cty.StringVal("k"), "old": old, "list": cty.ListVal([]cty.Value{inner(old), inner(old)}),
			"map": cty.MapVal(map[string]cty.Value{"a.b": inner(old), `["a"]`: inner(old)}), "set": set(cty.SetVal([]cty.Value{bare})),
		})
	}
	secret, mark := cty.StringVal("o").Mark(marks.Sensitive), deprecated("It is old.")
	object := objects(secret, func(set cty.Value) cty.Value { return set })
	want := objects(secret.Mark(mark), func(set cty.Value) cty.Value { return set.Mark(mark) })

	planning := &Evaluation{opts: Options{Phase: Plan}}
	if got := planning.Deprecate(object, block); !got.RawEquals(want) {
		t.Errorf("got %#v\nwant %#v", got, want)
	}
	if !planning.deprecations.Load() {
		t.Error("the evaluation will not look for the marks")
	}
	for name, test := range map[string]struct {
		phase  Phase
		object cty.Value
		block  *schema.Block
	}{
		"applying":           {Apply, object, block},
		"unknown":            {Plan, cty.UnknownVal(block.Type()), block},
		"nothing deprecated": {Plan, object, &schema.Block{Attributes: []*schema.Attribute{optional("kept")}}},
	} {
		e := &Evaluation{opts: Options{Phase: test.phase}}
		if got := e.Deprecate(test.object, test.block); !got.RawEquals(test.object) || e.deprecations.Load() {
			t.Errorf("%s: got %#v, and looking for marks is %t", name, got, e.deprecations.Load())
		}
	}
}
