// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"os"
	"path/filepath"
	"testing"
)

// TestHasRuns checks that the record of an apply which came to no end is found, for each engine and
// deployment.
func TestHasRuns(t *testing.T) {
	for path, want := range map[string]bool{
		"stack-1/ab/runs/native/x.journal":        true,
		"stack-1/ab/deployments/prod/runs/1/lock": true,
		"stack-1/ab/runs/native/":                 false,
		"stack-1/ab/init/provider":                false,
	} {
		dir := t.TempDir()
		parent, file := filepath.Split(filepath.FromSlash(dir + "/" + path))
		if err := os.MkdirAll(parent, 0o700); err != nil {
			t.Fatal(err)
		}
		if file != "" {
			if err := os.WriteFile(filepath.Join(parent, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := hasRuns(dir); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}
