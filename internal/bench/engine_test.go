// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// All subjects do the work of every shape, again and again.
func TestComparisons(t *testing.T) {
	binary := testenv.Engine(t)
	testenv.CLIConfig(t, "")
	subjects := []subject{&bare{"bare", binary, plainEnvironment()}, &library{binary}}
	for _, c := range []comparison{
		{components: 3, parallelism: 2, rounds: 2},
		{components: 3, chain: true, parallelism: 2, rounds: 2},
	} {
		results, err := c.measure(t.Context(), subjects, t.TempDir())
		if err != nil {
			t.Errorf("%s: %v", c, err)
			continue
		}
		for i, subject := range subjects {
			if len(results[i]) != c.rounds {
				t.Errorf("%s: %s has %d results, want %d", c, subject.name(), len(results[i]), c.rounds)
			}
			for _, result := range results[i] {
				if result.plan <= 0 || result.apply <= 0 {
					t.Errorf("%s: %s took %v and %v, want some time", c, subject.name(), result.plan, result.apply)
				}
			}
		}
	}
}

// A bare chain hands on what it has applied, as the stack does.
func TestBareChainHandsOnOutputs(t *testing.T) {
	binary := testenv.Engine(t)
	testenv.CLIConfig(t, "")
	f, err := newFixture(t.TempDir(), 2, true)
	if err != nil {
		t.Fatal(err)
	}
	loop := &bare{"bare", binary, plainEnvironment()}
	if _, err := loop.run(t.Context(), f, 1); err != nil {
		t.Fatal(err)
	}
	got, err := output(f.units[1])
	if err != nil {
		t.Fatal(err)
	}
	if want := unitInput(0); got != want {
		t.Errorf("output of the second unit = %q, want %q", got, want)
	}
	if err := f.reset(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(f.units[1], stateFile)); !os.IsNotExist(err) {
		t.Errorf("state after reset: %v, want none", err)
	}
}
