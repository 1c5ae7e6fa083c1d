// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package environ_test

import (
	"testing"

	"github.com/cairnstacks/cairn/internal/environ"
)

func TestLookUp(t *testing.T) {
	given := []string{"A=1", "EMPTY=", "AB=2", "A=3=4", "B"}
	for name, want := range map[string]struct {
		value string
		found bool
	}{
		"A": {"3=4", true}, "AB": {"2", true}, "EMPTY": {"", true}, "NONE": {"", false},
	} {
		value, found := environ.LookUp(given, name)
		if value != want.value || found != want.found || environ.Get(given, name) != want.value {
			t.Errorf("LookUp(%q) = %q, %t, want %q, %t", name, value, found, want.value, want.found)
		}
	}
}
