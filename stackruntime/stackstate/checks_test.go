// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func TestChecks(t *testing.T) {
	state := engine.State(`{"version": 4, "serial": 1, "lineage": "l", "check_results": [
		{"object_kind": "resource", "config_addr": "module.m.data.thing.x", "status": "fail", "objects": [
			{"object_addr": "module.m[\"a.b\"].data.thing.x[1]", "status": "fail", "failure_messages": ["One.", "Two."]},
			{"object_addr": "module.m[\"a.b\"].data.thing.x[0]", "status": "pass"}]},
		{"object_kind": "check", "config_addr": "module.m.check.c", "status": "unknown", "objects": [
			{"object_addr": "module.m[\"a.b\"].check.c", "status": "unknown"}]},
		{"object_kind": "output", "config_addr": "output.o", "status": "error", "objects": null},
		{"object_kind": "var", "config_addr": "var.v", "status": "pass", "objects": [{"object_addr": "var.v", "status": "pass"}]}]}`)
	want := []tfjson.CheckResultStatic{
		{
			Address: tfjson.CheckStaticAddress{ToDisplay: "module.m.check.c", Kind: tfjson.CheckKindCheckBlock, Module: "module.m", Name: "c"},
			Status:  tfjson.CheckStatusUnknown,
			Instances: []tfjson.CheckResultDynamic{
				{Address: tfjson.CheckDynamicAddress{ToDisplay: `module.m["a.b"].check.c`, Module: `module.m["a.b"]`}, Status: tfjson.CheckStatusUnknown},
			},
		},
		{
			Address: tfjson.CheckStaticAddress{
				ToDisplay: "module.m.data.thing.x", Kind: tfjson.CheckKindResource, Module: "module.m",
				Mode: tfjson.DataResourceMode, Type: "thing", Name: "x",
			},
			Status: tfjson.CheckStatusFail,
			Instances: []tfjson.CheckResultDynamic{
				{
					Address: tfjson.CheckDynamicAddress{ToDisplay: `module.m["a.b"].data.thing.x[0]`, Module: `module.m["a.b"]`, InstanceKey: 0},
					Status:  tfjson.CheckStatusPass,
				},
				{
					Address:  tfjson.CheckDynamicAddress{ToDisplay: `module.m["a.b"].data.thing.x[1]`, Module: `module.m["a.b"]`, InstanceKey: 1},
					Status:   tfjson.CheckStatusFail,
					Problems: []tfjson.CheckResultProblem{{Message: "One."}, {Message: "Two."}},
				},
			},
		},
		{Address: tfjson.CheckStaticAddress{ToDisplay: "output.o", Kind: tfjson.CheckKindOutputValue, Name: "o"}, Status: tfjson.CheckStatusError},
		{
			Address: tfjson.CheckStaticAddress{ToDisplay: "var.v", Kind: "var", Name: "v"},
			Status:  tfjson.CheckStatusPass,
			Instances: []tfjson.CheckResultDynamic{
				{Address: tfjson.CheckDynamicAddress{ToDisplay: "var.v"}, Status: tfjson.CheckStatusPass},
			},
		},
	}
	got, err := Checks(state)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Checks (-want +got):\n%s", diff)
	}

	same, err := WithChecks(state, want)
	if err != nil || string(same) != string(state) {
		t.Errorf("WithChecks with the same results = %s, %v, want the state as it is", same, err)
	}
	want[3].Status = tfjson.CheckStatusFail
	other, err := WithChecks(state, want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err = Checks(other); err != nil || !cmp.Equal(got, want) {
		t.Errorf("WithChecks: %v, %v\n%s", got, err, cmp.Diff(want, got))
	}
	if empty, err := WithChecks(nil, want); len(empty) > 0 || err != nil {
		t.Errorf("WithChecks of no state = %s, %v, want none", empty, err)
	}
	if _, err := Checks(engine.State("no JSON")); err == nil {
		t.Error("Checks of no document: no error")
	}
}
