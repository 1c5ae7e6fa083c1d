// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux || darwin

package installation

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A program with the size and the time of another one that takes its place is not taken for it.
func TestFingerprintOfReplacedProgram(t *testing.T) {
	dir, at := t.TempDir(), time.Now().Add(-time.Hour)
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fingerprint := func() string {
		t.Helper()
		found, err := Fingerprint(dir)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	program := write("terraform-provider-x", "good")
	before := fingerprint()
	if again := fingerprint(); again != before {
		t.Errorf("the same program has the fingerprints %s and %s", before, again)
	}
	if err := os.Rename(write("new", "evil"), program); err != nil {
		t.Fatal(err)
	}
	if after := fingerprint(); after == before {
		t.Error("a replaced program has the same fingerprint")
	}
}
