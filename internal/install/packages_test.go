// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package install

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Another package with the same version has other schemas, whatever the lock file says.
func TestPackageHashesFollowContent(t *testing.T) {
	dir := t.TempDir()
	i := New(Options{WorkDir: dir})
	if err := os.Mkdir(filepath.Join(dir, "init"), 0o700); err != nil {
		t.Fatal(err)
	}
	target := t.TempDir()
	installed := []Package{{Path: "a/b/c/1.0.0/linux_amd64", Dir: target}, {Path: "a/b/d/1.0.0/linux_amd64", Dir: target + "-not-there"}}
	hash := func(content string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(target, "program"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		hashes := i.Hashes(t.Context(), installed)
		if len(hashes) != 1 || hashes["a/b/c/1.0.0/linux_amd64"] == "" {
			t.Fatalf("Hashes() = %v, want one for what is there", hashes)
		}
		return hashes["a/b/c/1.0.0/linux_amd64"]
	}
	first := hash("first")
	if again := hash("first"); again != first {
		t.Errorf("the same content has the hashes %s and %s", first, again)
	}
	if other := hash("something else"); other == first {
		t.Errorf("other content has the same hash %s", other)
	}
	// The remembered hashes may be damaged.
	if err := os.WriteFile(i.dir.Hashes, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := hash("first"); got != first {
		t.Errorf("after the record was damaged: %s, want %s", got, first)
	}
}

// A package is read again when one of its files shows that it has changed.
func TestChangedPackagesAreReadAgain(t *testing.T) {
	var shared Hashes
	target := t.TempDir()
	program := filepath.Join(target, "program")
	write := func(content string) {
		t.Helper()
		stat, statErr := os.Stat(program)
		if err := os.WriteFile(program, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if statErr == nil {
			if err := os.Chtimes(program, stat.ModTime(), stat.ModTime()); err != nil {
				t.Fatal(err)
			}
		}
	}
	hash := func() string {
		t.Helper()
		return New(Options{WorkDir: t.TempDir(), Hashes: &shared}).Hashes(t.Context(),
			[]Package{{Path: "a/b/c/1.0.0/linux_amd64", Dir: target}})["a/b/c/1.0.0/linux_amd64"]
	}
	write("one")
	first := hash()
	if got := hash(); got != first {
		t.Errorf("the same package has other hashes: %s, then %s", first, got)
	}
	write("two") // of the same size and time, which shows where there are inodes
	if got := hash(); got == first && runtime.GOOS == "linux" {
		t.Errorf("a replaced package has the hash %q", got)
	}
	write("longer")
	if got := hash(); got == first || got == "" {
		t.Errorf("a package that has changed has the hash %q", got)
	}
}
