// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"
)

func TestScriptedPlan(t *testing.T) {
	s := configured(t, nil)
	ty := s.types["fake_scripted"].ty
	value, unknown := cty.StringVal("a"), cty.UnknownVal(cty.String)
	for name, test := range map[string]struct {
		args map[string]cty.Value
		want cty.Value // of value
	}{
		"as it is":     {map[string]cty.Value{"value": value}, value},
		"other value":  {map[string]cty.Value{"value": value, "plan_value": cty.StringVal("b")}, cty.StringVal("b")},
		"not known":    {map[string]cty.Value{"value": value, "plan_unknown": cty.True, "legacy": cty.True}, unknown},
		"out of blue":  {map[string]cty.Value{"plan_value": value}, value},
		"nothing told": {nil, cty.NullVal(cty.String)},
	} {
		t.Run(name, func(t *testing.T) {
			resp := planCreate(t, s, "fake_scripted", test.args, false)
			if got := decoded(t, resp.PlannedState, ty).GetAttr("value"); !got.RawEquals(test.want) {
				t.Errorf("planned %#v, want %#v", got, test.want)
			}
			if _, want := test.args["legacy"]; resp.UnsafeToUseLegacyTypeSystem != want { //nolint:staticcheck // legacy providers set it
				t.Errorf("legacy: %t, want %t", resp.UnsafeToUseLegacyTypeSystem, want) //nolint:staticcheck // legacy providers set it
			}
		})
	}
}

func TestScriptedApply(t *testing.T) {
	s := configured(t, nil)
	typ := s.types["fake_scripted"]
	apply := func(args map[string]cty.Value) cty.Value {
		t.Helper()
		obj := encoded(t, withAttributes(typ.emptyObject(), args), typ.ty)
		resp, err := s.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
			TypeName: typ.name, PriorState: encoded(t, cty.NullVal(typ.ty), typ.ty), PlannedState: obj, Config: obj,
		})
		if err != nil || len(resp.Diagnostics) > 0 {
			t.Fatalf("ApplyResourceChange: error %v, diagnostics %v", err, resp.Diagnostics)
		}
		return decoded(t, resp.NewState, typ.ty)
	}
	applied := apply(map[string]cty.Value{"id": cty.StringVal("1"), "apply_value": cty.StringVal("x")})
	if got := applied.GetAttr("value"); !got.RawEquals(cty.StringVal("x")) {
		t.Errorf("applied %#v", got)
	}
	if got := apply(map[string]cty.Value{"id": cty.StringVal("2"), "apply_null": cty.True}); !got.IsNull() {
		t.Errorf("applied %#v, want null", got)
	}
}

func TestScriptedUpgrade(t *testing.T) {
	s := configured(t, nil)
	typ := s.types["fake_scripted"]
	for text, version := range map[string]int64{`{"id":"1","old_value":"x"}`: 0, `{"id":"1","value":"x"}`: scriptedVersion} {
		resp, err := s.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{
			TypeName: typ.name, Version: version, RawState: &tfprotov6.RawState{JSON: []byte(text)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := decoded(t, resp.UpgradedState, typ.ty).GetAttr("value"); !got.RawEquals(cty.StringVal("x")) {
			t.Errorf("UpgradeResourceState(%s, version %d): value %#v", text, version, got)
		}
	}
}
