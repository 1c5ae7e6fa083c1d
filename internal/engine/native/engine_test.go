// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/environ"
)

// Relative paths in the environment start from the directory that it belongs to, not from that of
// the process.
func TestPathsInEnvironment(t *testing.T) {
	dir := t.TempDir()
	e, err := New(Options{WorkDir: filepath.Join(dir, ".cairn"), Dir: dir, Environ: []string{"TF_CLI_CONFIG_FILE=user.tfrc"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := environ.Get(e.opts.Environ, "TF_CLI_CONFIG_FILE"), filepath.Join(dir, "user.tfrc"); got != want {
		t.Errorf("TF_CLI_CONFIG_FILE is %q, want %q", got, want)
	}
}
