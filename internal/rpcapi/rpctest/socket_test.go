// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package rpctest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The socket is where only this user gets to, and its directory goes with the process.
func TestSocketDirectory(t *testing.T) {
	p := start(t, options{plain: true})
	dir := filepath.Dir(p.fields[3])
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o700 {
		t.Errorf("mode of %s = %o, want 700", dir, got)
	}
	if parent := filepath.Dir(dir); filepath.Clean(parent) != filepath.Clean(os.TempDir()) { //nolint:usetesting // of the process
		t.Errorf("the socket is in %s, not in a directory of its own", dir)
	}
	p.signal(syscall.SIGTERM)
	p.exitStatus()
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end, %s is still there: %v", dir, err)
	}
}
