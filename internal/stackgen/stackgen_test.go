// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackgen_test

import (
	"testing"

	"github.com/cairnstacks/cairn/internal/stackgen"
)

// Rule G1.
func TestEqualOptionsGiveEqualStacks(t *testing.T) {
	different := map[string]bool{}
	for seed := range uint64(20) {
		opts := stackgen.Options{Seed: seed, Providers: seed%2 == 0}
		first, again := stackgen.Generate(opts), stackgen.Generate(opts)
		if first.First.String() != again.First.String() || first.Second.String() != again.Second.String() {
			t.Errorf("seed %d gives different stacks", seed)
		}
		different[first.First.String()] = true
	}
	if len(different) != 20 {
		t.Errorf("20 seeds give %d different stacks", len(different))
	}
}
