// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// All subjects do the work of every shape, again and again.
func TestComparisons(t *testing.T) {
	binary := testenv.Engine(t)
	testenv.CLIConfig(t, "")
	subjects := []subject{&bare{"bare", binary, plainEnvironment()}, &library{binary}}
	for _, c := range []comparison{
		{components: 3, shape: wide, parallelism: 2, rounds: 2, module: builtInModule()},
		{components: 3, shape: chain, parallelism: 2, rounds: 2, module: builtInModule()},
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
				if result.plan.elapsed <= 0 || result.apply.elapsed <= 0 {
					t.Errorf("%s: %s took %v and %v, want some time", c, subject.name(), result.plan.elapsed, result.apply.elapsed)
				}
			}
		}
	}
}

// A bare chain hands on the outputs of applied units, as the stack does. A chain has the outputs of
// the components before.
func TestBareHandsOnOutputs(t *testing.T) {
	binary := testenv.Engine(t)
	testenv.CLIConfig(t, "")
	for s, want := range map[shape]string{chain: unitInput(0), wide: unitInput(1)} {
		n := 2
		f, err := newFixture(t.TempDir(), n, s, builtInModule())
		if err != nil {
			t.Fatal(err)
		}
		loop := &bare{"bare", binary, plainEnvironment()}
		outputs := make([]string, n)
		for i := range n {
			if _, err := loop.plan(t.Context(), f, i, outputs); err != nil {
				t.Fatal(err)
			}
			if _, err := loop.process(t.Context(), f, i, "apply", unitPlan); err != nil {
				t.Fatal(err)
			}
			if outputs[i], err = output(f.units[i]); err != nil {
				t.Fatal(err)
			}
		}
		if outputs[1] != want {
			t.Errorf("%s: output of the second unit = %q, want %q", s, outputs[1], want)
		}
		if err := f.reset(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(f.units[1], stateFile)); !os.IsNotExist(err) {
			t.Errorf("%s: state after reset: %v, want none", s, err)
		}
	}
}

func TestShapes(t *testing.T) {
	for _, test := range []struct {
		shape shape
		i, n  int
		want  []int
	}{
		{wide, 5, 10, nil},
		{chain, 0, 10, nil},
		{chain, 5, 10, []int{4}},
		{layered, 29, 300, nil},
		{layered, 30, 300, []int{0, 1, 2}},
		{layered, 299, 300, []int{269, 240, 241}},
	} {
		if got := test.shape.uses(test.i, test.n); !slices.Equal(got, test.want) {
			t.Errorf("%s: component %d of %d uses %v, want %v", test.shape, test.i, test.n, got, test.want)
		}
	}
}
