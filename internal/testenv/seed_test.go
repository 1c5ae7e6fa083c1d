// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv_test

import (
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

func TestSeed(t *testing.T) {
	t.Setenv(testenv.SeedVariable, "")
	if first, second := testenv.Seed(t), testenv.Seed(t); first != second {
		t.Errorf("got %d and %d, want the same", first, second)
	}
	t.Setenv(testenv.SeedVariable, "42")
	if got := testenv.Seed(t); got != 42 {
		t.Errorf("got %d, want 42", got)
	}
	t.Setenv(testenv.SeedVariable, testenv.RandomSeed)
	if first, second := testenv.Seed(t), testenv.Seed(t); first == second {
		t.Errorf("got %d twice, want others", first)
	}
}
