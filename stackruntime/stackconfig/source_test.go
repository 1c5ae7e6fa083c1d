// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// A source that is advised instead of one that was refused is itself accepted, and is the only
// advice.
func TestAdviceOnLocalSources(t *testing.T) {
	quoted := regexp.MustCompile(`(?:canonical form|write) "([^"]*)"`)
	for written, want := range map[string]string{
		".":           "./",
		"./.":         "./",
		"..":          "../",
		"./m/":        "./m",
		"./../m":      "../m",
		"../s/../m":   "../m",
		"m":           "./m",
		"m/":          "./m",
		"m/..":        "./",
		"m/../../m":   "../m",
		".hidden":     "./.hidden",
		"./none/../m": "./m",
		"none":        "",
	} {
		_, diags := load(inMemory(map[string]string{
			"/s/main.tfcomponent.hcl": fmt.Sprintf("component \"c\" {\n  source = %q\n}\n", written),
			"/s/m/main.tf":            "",
			"/s/.hidden/main.tf":      "",
			"/m/main.tf":              "",
		}), "/s")
		if len(diags) != 1 || diags[0].Summary != "Unusable source address" {
			t.Errorf("%q: %s", written, details(diags))
			continue
		}
		var advice []string
		for _, match := range quoted.FindAllStringSubmatch(diags[0].Detail, -1) {
			advice = append(advice, match[1])
		}
		if got := strings.Join(advice, ", "); got != want {
			t.Errorf("%q: the advice is %q, want %q: %s", written, got, want, diags[0].Detail)
		}
		for _, source := range advice {
			if _, err := ParseSource(source); err != nil {
				t.Errorf("%q: the advice %q is refused: %s", written, source, err)
			}
		}
	}
}
