// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// What a plan would do is taken from the line that says so, and from nothing that only looks like it.
func TestPlanLines(t *testing.T) {
	tests := map[string]struct {
		text string
		want *stackplan.Counts
	}{
		"plain":      {"  + add\n\nPlan: 1 to add, 20 to change, 3 to destroy.\n\nSaved\n", &stackplan.Counts{Add: 1, Change: 20, Remove: 3}},
		"colours":    {"\x1b[0m\x1b[1mPlan:\x1b[0m 1 to add, 0 to change, 0 to destroy.\x1b[0m\r\n", &stackplan.Counts{Add: 1}},
		"rarer ones": {"Plan: 4 to import, 0 to add, 1 to change, 0 to destroy, 2 to forget.\n", &stackplan.Counts{Import: 4, Change: 1, Forget: 2}},
		"actions":    {"Plan: 0 to add, 1 to change, 0 to destroy. Actions: 1 to invoke.\n", &stackplan.Counts{Change: 1}},
		"twice":      {strings.Repeat("Plan: 1 to add, 0 to change, 0 to destroy.\n", 2), &stackplan.Counts{Add: 1}},

		"outputs":     {"\nChanges to Outputs:\n  + a = 1\n\nYou can apply this plan\n", &stackplan.Counts{}},
		"and outputs": {"Plan: 1 to add, 0 to change, 0 to destroy.\n\nChanges to Outputs:\n  + a = 1\n", &stackplan.Counts{Add: 1}},

		"none":            {"Planning...\n", nil},
		"inside a value":  {"      + text = <<-EOT\n            Plan: 1 to add, 0 to change, 0 to destroy.\n        EOT\n", nil},
		"two":             {"Plan: 9 to add, 0 to change, 0 to destroy.\nPlan: 1 to add, 0 to change, 0 to destroy.\n", nil},
		"other words":     {"Plan: 1 to add, 0 to change, 0 to destroy, 1 to frobnicate.\n", nil},
		"repeated words":  {"Plan: 1 to add, 2 to add, 0 to change, 0 to destroy.\n", nil},
		"one left out":    {"Plan: 1 to add, 0 to change.\n", nil},
		"large number":    {"Plan: 10000000000 to add, 0 to change, 0 to destroy.\n", nil},
		"more on it":      {"Plan: 1 to add, 0 to change, 0 to destroy. More.\n", nil},
		"without an end":  {"Plan: 1 to add, 0 to change, 0 to destroy.", nil},
		"after much else": {strings.Repeat("x", 5000) + "Plan: 1 to add, 0 to change, 0 to destroy.\n", nil},
		"JSON":            {`{"@message":"Plan: 1 to add, 0 to change, 0 to destroy."}` + "\n", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 7, len(test.text)} {
				var passed bytes.Buffer
				p := &planLines{to: &passed}
				for text := test.text; text != ""; text = text[min(size, len(text)):] {
					if n, err := p.Write([]byte(text[:min(size, len(text))])); n != min(size, len(text)) || err != nil {
						t.Fatalf("Write returns %d, %v", n, err)
					}
				}
				if diff := cmp.Diff(test.want, p.counts()); diff != "" {
					t.Errorf("in pieces of %d (-want +got):\n%s", size, diff)
				}
				if passed.String() != test.text {
					t.Errorf("in pieces of %d, %q is passed on", size, passed.String())
				}
			}
		})
	}
}
