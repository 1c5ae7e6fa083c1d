// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statewatch

import (
	"strings"
	"testing"
)

func TestPrintedState(t *testing.T) {
	const state = "{\n  \"version\": 4,\n  \"terraform_version\": \"1.11.4\",\n  \"serial\": 3,\n" +
		"  \"lineage\": \"x\",\n  \"outputs\": {},\n  \"resources\": [],\n  \"check_results\": null\n}"
	for name, test := range map[string]struct {
		text  string
		found bool
	}{
		"alone":                    {state, true},
		"between lines":            {"Failed to save\n\n" + state + "\nand now\n", true},
		"after other objects":      {"{\"version\": 3}\n{ broken\n{\"a\":1}\n" + state, true},
		"the last of two":          {strings.Replace(state, `"serial": 3`, `"serial": 2`, 1) + "\n" + state, true},
		"cut off":                  {state[:len(state)-10], false},
		"none":                     {"no state", false},
		"a megabyte of beginnings": {strings.Repeat("{", 1<<20) + strings.Repeat("\n{\"version\":[", 50_000) + "\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := printedState(test.text)
			if (got != nil) != test.found {
				t.Errorf("found %v, want one: %v", got, test.found)
			}
			if got != nil && got.Serial() != 3 {
				t.Errorf("the state is %s", got.Bytes())
			}
		})
	}
}
