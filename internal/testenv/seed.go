// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

const (
	// SeedVariable names the seed of random tests, or is [RandomSeed].
	SeedVariable = "CAIRN_TEST_SEED"

	// RandomSeed chooses another seed each time.
	RandomSeed = "random"

	usualSeed = 1
)

// Seed returns the seed of a random test, which it logs. It is always the same unless
// [SeedVariable] says otherwise: the findings of a gate should be of the change that it checks, not
// of chance.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(usualSeed)
	switch text := os.Getenv(SeedVariable); text {
	case "":
	case RandomSeed:
		seed = rand.Uint64() >> 1 //nolint:gosec // the choice of cases is left to chance
	default:
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s is %q; want a number or %q", SeedVariable, text, RandomSeed)
		}
	}
	t.Logf("%s=%d", SeedVariable, seed)
	return seed
}
