// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package environ_test

import (
	"slices"
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

func TestWithout(t *testing.T) {
	given := []string{"A=1", "AB=2", "A=3=4", "B=A="}
	if got := environ.Without(given, "A"); !slices.Equal(got, []string{"AB=2", "B=A="}) || given[0] != "A=1" {
		t.Errorf("Without(A) = %q of %q", got, given)
	}
}

func TestWithoutOwn(t *testing.T) {
	given := []string{
		"A=1", "TF_VAR_a=secret", "CAIRN_VAR_b=secret", "TF_CLI_ARGS=-x", "TF_CLI_ARGS_plan=-y", "TF_LOG=trace",
		"CAIRN_VARSET_NAME=n", "=C:=C:\\", "CAIRN_ENCRYPTION=key", "CAIRN_ENCRYPTION_PASSPHRASE=secret", "CAIRN_STATE=postgres://:secret@h",
		"CAIRN_RUN_KEY=key", "CAIRN_POOL_KEY=key",
	}
	want := []string{"A=1", "TF_LOG=trace", "CAIRN_VARSET_NAME=n", "=C:=C:\\"}
	if got := environ.WithoutOwn(given); !slices.Equal(got, want) {
		t.Errorf("WithoutOwn(%q) = %q, want %q", given, got, want)
	}
}
