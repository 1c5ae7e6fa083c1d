// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func TestChecks(t *testing.T) {
	const state = `{"version": 4, "serial": 1, "lineage": "l", "check_results": [
		{"object_kind": "resource", "config_addr": "module.m.data.thing.x", "status": "fail", "objects": [
			{"object_addr": "module.m[\"a.b\"].data.thing.x[1]", "status": "fail", "failure_messages": ["One.", "Two."]},
			{"object_addr": "module.m[\"a.b\"].data.thing.x[0]", "status": "pass"}]},
		{"object_kind": "check", "config_addr": "module.m.check.c", "status": "unknown", "objects": [
			{"object_addr": "module.m[\"a.b\"].check.c", "status": "unknown"}]},
		{"object_kind": "output", "config_addr": "output.o", "status": "error", "objects": null},
		{"object_kind": "var", "config_addr": "var.v", "status": "pass", "objects": [{"object_addr": "var.v", "status": "pass"}]}]}`
	want := []engine.CheckResult{
		{
			Kind: engine.CheckBlock, Address: "module.m.check.c", Status: engine.CheckUnknown,
			Objects: []engine.CheckedObject{{Address: `module.m["a.b"].check.c`, Status: engine.CheckUnknown}},
		},
		{
			Kind: engine.CheckResource, Address: "module.m.data.thing.x", Status: engine.CheckFail,
			Objects: []engine.CheckedObject{
				{Address: `module.m["a.b"].data.thing.x[0]`, Status: engine.CheckPass},
				{Address: `module.m["a.b"].data.thing.x[1]`, Status: engine.CheckFail, Messages: []string{"One.", "Two."}},
			},
		},
		{Kind: engine.CheckOutput, Address: "output.o", Status: engine.CheckError},
		{
			Kind: engine.CheckVariable, Address: "var.v", Status: engine.CheckPass,
			Objects: []engine.CheckedObject{{Address: "var.v", Status: engine.CheckPass}},
		},
	}
	d := parse(t, state)
	got, err := d.Checks()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Checks (-want +got):\n%s", diff)
	}

	same, err := d.WithChecks(want)
	if err != nil || same != d {
		t.Errorf("WithChecks with the same results = %s, %v, want the document as it is", same.Bytes(), err)
	}
	want[3].Status = engine.CheckFail
	other, err := d.WithChecks(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err = parse(t, string(other.Bytes())).Checks(); err != nil || !cmp.Equal(got, want) {
		t.Errorf("WithChecks: %v, %v\n%s", got, err, cmp.Diff(want, got))
	}
	if empty, err := new(Document).WithChecks(want); !empty.IsEmpty() || err != nil {
		t.Errorf("WithChecks of no state = %s, %v, want none", empty.Bytes(), err)
	}
	if got, err := parse(t, `{"version": 4, "check_results": {}}`).Checks(); err == nil {
		t.Errorf("Checks of no list = %v, want an error", got)
	}
}

func TestWithCheckAddresses(t *testing.T) {
	d := parse(t, `{"version": 4, "check_results": [
		{"object_kind": "var", "config_addr": "var.x_v", "status": "pass", "later": 1, "objects": [{"object_addr": "var.x_v", "status": "pass", "more": [2]}]},
		{"object_kind": "check", "config_addr": "check.gone", "status": "pass", "objects": null}]}`)
	renamed, err := d.WithCheckAddresses(func(address string) string {
		if address == "check.gone" {
			return ""
		}
		return strings.Replace(address, "x_", "", 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"version":4,"resources":[],"check_results":[` +
		`{"config_addr":"var.v","later":1,"object_kind":"var","objects":[{"more":[2],"object_addr":"var.v","status":"pass"}],"status":"pass"}]}`
	if got := string(renamed.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, text := range []string{`{"version":4}`, `{"version":4,"check_results":null}`} {
		if d := parse(t, text); d != must(d.WithCheckAddresses(nil)) {
			t.Errorf("a document without checks is changed: %s", text)
		}
	}
	if _, err := parse(t, `{"version":4,"check_results":[{}]}`).WithCheckAddresses(strings.ToLower); err == nil {
		t.Error("a check without an address: no error")
	}
}
