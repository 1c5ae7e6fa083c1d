// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// fakeBinary makes a program that prints a version, and counts how often it ran.
func fakeBinary(t *testing.T, dir, name, output string) (path string, runs func() int) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	path, log := filepath.Join(dir, name), filepath.Join(dir, name+".log")
	script := "#!/bin/sh\necho run >> '" + log + "'\ncat <<'END'\n" + output + "\nEND\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return path, func() int {
		data, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Count(string(data), "run")
	}
}

func TestNewAsksForVersionOnce(t *testing.T) {
	tests := map[string]struct {
		output string
		want   engine.Info
		err    string
	}{
		"terraform":      {"Terraform v1.10.0\non linux_amd64", engine.Info{Name: "terraform", Version: "1.10.0"}, ""},
		"tofu":           {"OpenTofu v1.12.6-dev\non linux_amd64", engine.Info{Name: "tofu", Version: "1.12.6-dev"}, ""},
		"old terraform":  {"Terraform v1.9.8", engine.Info{}, "needs version 1.10.0 or newer"},
		"old tofu":       {"OpenTofu v1.10.9", engine.Info{}, "needs version 1.11.0 or newer"},
		"something else": {"GNU bash, version 5", engine.Info{}, "neither terraform nor tofu"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			binary, runs := fakeBinary(t, dir, "engine", test.output)
			opts := Options{Binary: binary, WorkDir: filepath.Join(dir, ".cairn")}
			eng, err := New(t.Context(), opts)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("New: got %v, want %q", err, test.err)
				}
				return
			}
			if err != nil || eng.Info() != test.want {
				t.Fatalf("New: got %v, %v, want %v", eng, err, test.want)
			}
			if _, err := New(t.Context(), opts); err != nil || runs() != 1 {
				t.Errorf("New, again: %v after %d runs of the binary, want 1", err, runs())
			}
			fakeBinary(t, dir, "engine", test.output+"\nanother build")
			if _, err := New(t.Context(), opts); err != nil || runs() != 2 {
				t.Errorf("New with a changed binary: %v after %d runs, want 2", err, runs())
			}
		})
	}
}
