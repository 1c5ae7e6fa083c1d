// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompleteSBOM(t *testing.T) {
	const listed = `{"bomFormat": "CycloneDX", "metadata": {"component": {"name": "cairn", "version": "(devel)"}}, "components": [
		{"name": "example.com/m", "licenses": [{"license": {"id": "MIT"}}], "purl": "pkg:golang/example.com/m"},
		{"name": "github.com/fatih/color"}, {"name": "std"},
		{"name": "github.com/nexus-rpc/nexus-proto-annotations", "version": "v0.1.0"}]}`
	const want = `{"bomFormat": "CycloneDX",
		"metadata": {"component": {"name": "cairn", "version": "v0.9.0", "licenses": [{"license": {"id": "MPL-2.0", "acknowledgement": "declared"}}]}},
		"components": [
			{"name": "example.com/m", "licenses": [{"license": {"id": "MIT", "acknowledgement": "concluded"}}], "purl": "pkg:golang/example.com/m"},
			{"name": "github.com/fatih/color", "licenses": [{"license": {"id": "MIT", "acknowledgement": "concluded"}}]},
			{"name": "std", "licenses": [{"license": {"id": "BSD-3-Clause", "acknowledgement": "declared"}}]},
			{"name": "github.com/nexus-rpc/nexus-proto-annotations", "version": "v0.1.0",
				"licenses": [{"license": {"name": "none found: see LICENSES.txt beside the program", "acknowledgement": "concluded"}}]}]}`
	completed, err := completeSBOM([]byte(listed), "v0.9.0")
	if err != nil {
		t.Fatal(err)
	}
	var gotValue, wantValue any
	if err := json.Unmarshal(completed, &gotValue); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &wantValue); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantValue, gotValue); diff != "" {
		t.Errorf("completeSBOM differs (-want +got):\n%s", diff)
	}
	for wrong, want := range map[string]string{
		`{"metadata": {"component": {}}, "components": [{"name": "a"}, {"name": "b", "licenses": []}, {"name": "std"}]}`:                 "recognized of: a, b",
		`{"metadata": {"component": {}}, "components": [{"name": "github.com/nexus-rpc/nexus-proto-annotations", "version": "v0.2.0"}]}`: "recognized of: github",
		`{"metadata": {"component": {}}}`: "no modules",
		`{}`:                              "no program",
	} {
		if _, err := completeSBOM([]byte(wrong), "v0.9.0"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("completeSBOM(%s) fails with %v, want %q", wrong, err, want)
		}
	}
}
