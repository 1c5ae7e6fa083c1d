// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A program with the size and the time of another one that takes its place is not taken for it.
func TestFingerprintOfReplacedProgram(t *testing.T) {
	for name, changeOf := range map[string]func(fs.FileInfo) string{
		"this system":                           changeOf,
		"a system that names no file by itself": func(fs.FileInfo) string { return "" },
	} {
		t.Run(name, func(t *testing.T) { testReplacedProgram(t, changeOf) })
	}
}

func testReplacedProgram(t *testing.T, changeOf func(fs.FileInfo) string) {
	t.Helper()
	dir, at := t.TempDir(), time.Now().Add(-time.Hour)
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	now := func() string {
		t.Helper()
		found, err := fingerprint(dir, changeOf)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	program := write("terraform-provider-x", "good")
	before := now()
	if again := now(); again != before {
		t.Errorf("the same program has the fingerprints %s and %s", before, again)
	}
	if err := os.Rename(write("new", "evil"), program); err != nil {
		t.Fatal(err)
	}
	if after := now(); after == before {
		t.Error("a replaced program has the same fingerprint")
	}
}
