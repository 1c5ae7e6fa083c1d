// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"
)

// Computed attributes inside are unknown in a plan, and known once it is applied.
func TestNested(t *testing.T) {
	s := configured(t, nil)
	typ := s.types["fake_nested"]
	block := func(name string) cty.Value {
		return emptyContent(typ.block(t, name).Block, typ.ty.AttributeType(name).ElementType())
	}
	args := map[string]cty.Value{
		"list_block": cty.ListVal([]cty.Value{block("list_block")}),
		"set_block":  cty.SetVal([]cty.Value{block("set_block")}),
		"map_block":  cty.MapVal(map[string]cty.Value{"k": block("map_block")}),
	}
	resp := planCreate(t, s, typ.name, args, false)
	planned := decoded(t, resp.PlannedState, typ.ty)
	places := []cty.Path{
		cty.GetAttrPath("group_block").GetAttr(madeName),
		cty.GetAttrPath("group_block").GetAttr("inner").GetAttr(madeName),
		cty.GetAttrPath("list_block").IndexInt(0).GetAttr(madeName),
		cty.GetAttrPath("map_block").IndexString("k").GetAttr(madeName),
	}
	for _, place := range places {
		if v, err := place.Apply(planned); err != nil || v.IsKnown() {
			t.Errorf("planned %s: %#v, error %v, want something unknown", pathString(place), v, err)
		}
	}
	applied, err := s.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: typ.name, PriorState: encoded(t, cty.NullVal(typ.ty), typ.ty), PlannedState: resp.PlannedState, Config: resp.PlannedState,
	})
	if err != nil || len(applied.Diagnostics) > 0 {
		t.Fatalf("ApplyResourceChange: error %v, diagnostics %v", err, applied.Diagnostics)
	}
	obj := decoded(t, applied.NewState, typ.ty)
	for _, place := range places {
		if v, err := place.Apply(obj); err != nil || !v.RawEquals(cty.StringVal(madeName)) {
			t.Errorf("applied %s: %#v, error %v, want %q", pathString(place), v, err, madeName)
		}
	}
}

func (t *resourceType) block(tb testing.TB, name string) *tfprotov6.SchemaNestedBlock {
	for _, block := range t.schema.Block.BlockTypes {
		if block.TypeName == name {
			return block
		}
	}
	tb.Fatalf("no block %s", name)
	return nil
}
