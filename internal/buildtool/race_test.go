// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"slices"
	"strings"
	"testing"
)

func TestChoosePackages(t *testing.T) {
	packages := []string{modulePath, modulePath + "/a", modulePath + "/a/b", modulePath + "/ab", modulePath + "/c"}
	chosen, err := choosePackages(packages, []string{"a/...", "c"}, []string{"a/b"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{modulePath + "/a", modulePath + "/c"}; !slices.Equal(chosen, want) {
		t.Errorf("chosen %q, want %q", chosen, want)
	}
	for name, test := range map[string]struct{ with, without []string }{
		"with":    {with: []string{"a", "d/..."}},
		"without": {with: []string{"a"}, without: []string{"c"}},
	} {
		if _, err := choosePackages(packages, test.with, test.without); err == nil || !strings.Contains(err.Error(), "matches") {
			t.Errorf("%s: error %v for a pattern without packages", name, err)
		}
	}
}

func TestRacePackages(t *testing.T) {
	packages, err := racePackages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(strings.Split(packages, "\n"), modulePath+"/promising") {
		t.Errorf("promising is not among the packages: %s", packages)
	}
}
