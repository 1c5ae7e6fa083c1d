// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// A state has no latch after it was cleaned, and nothing that refers to one.
func TestCleanState(t *testing.T) {
	const entry = `{"mode":%mode,"type":%type,"name":%name,"provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[
		{"schema_version":0,"attributes":{"id":"1"},"dependencies":["data.terraform_remote_state.__stack_in","terraform_data.b"]}]}`
	object := func(mode, kind, name string) string {
		return strings.NewReplacer("%mode", `"`+mode+`"`, "%type", `"`+kind+`"`, "%name", `"`+name+`"`).Replace(entry)
	}
	state, err := tfstate.Parse([]byte(`{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"x","outputs":{},"resources":[` +
		object("managed", "terraform_data", "a") + "," + object("data", "terraform_remote_state", "__stack_in") + `],
		"check_results":[{"object_kind":"var","config_addr":"module.__stack_in.var.x","status":"pass","objects":null}]}`))
	if err != nil {
		t.Fatal(err)
	}
	clean, err := CleanState(state)
	if err != nil {
		t.Fatal(err)
	}
	text := string(clean.Bytes())
	if strings.Contains(text, prefix) || len(clean.Entries()) != 1 || !strings.Contains(text, "terraform_data.b") {
		t.Errorf("the clean state is %s", text)
	}
	if again, err := CleanState(clean); again != clean || err != nil {
		t.Errorf("a clean state is changed: %v", err)
	}
}

func TestPlannedChecks(t *testing.T) {
	checks := PlannedChecks([]engine.CheckResult{
		{Kind: engine.CheckVariable, Address: "module.__stack_in.var.x", Objects: []engine.CheckedObject{{Address: "module.__stack_in.var.x"}}},
		{Kind: engine.CheckResource, Address: "data.terraform_remote_state.__stack_in"},
		{Kind: engine.CheckResource, Address: "terraform_data.a"},
	})
	var got []string
	for _, check := range checks {
		got = append(got, check.Address)
		for _, object := range check.Objects {
			got = append(got, object.Address)
		}
	}
	if want := []string{"terraform_data.a", "var.x", "var.x"}; !slices.Equal(got, want) {
		t.Errorf("checks are of %q, want %q", got, want)
	}
}
