// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// Stacks and units are planned, new and again.
func TestManyStacks(t *testing.T) {
	opts := options{engine: testenv.Engine(t), cairn: filepath.Join(t.TempDir(), "cairn"), rounds: 2}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", opts.cairn, "../../cmd/cairn")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	env := append(plainEnvironment(), "TF_CLI_CONFIG_FILE="+testenv.CLIConfigFile(t, testenv.FakeProviderMirror(t)))
	for _, withProvider := range []bool{false, true} {
		f, err := newManyStacks(t.TempDir(), 2, withProvider)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := f.measure(t.Context(), opts, env)
		if err != nil {
			t.Errorf("with a provider: %t: %v", withProvider, err)
		}
		for i, column := range columns {
			if len(column) != opts.rounds {
				t.Errorf("with a provider: %t: column %d has %d results, want %d", withProvider, i, len(column), opts.rounds)
			}
		}
	}
}
