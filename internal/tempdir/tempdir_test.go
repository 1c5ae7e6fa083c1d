// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tempdir

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/filelock"
)

const prefix = "cairn-test-"

// leave makes the directory of a process, with a file at each of the paths in it, and reports how
// to end the process without cleaning up.
func leave(t *testing.T, parent string, paths ...string) (path string, end func()) {
	t.Helper()
	dir, err := Kind{Parent: parent, Prefix: prefix}.Make()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		path = filepath.Join(dir.Path, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir.Path, func() { _ = dir.lock.Close() } // as the end of a process does
}

func isThere(dir string) bool {
	_, err := os.Lstat(dir)
	return err == nil
}

func TestRemoveLeft(t *testing.T) {
	parent, elsewhere := t.TempDir(), t.TempDir()
	left, end := leave(t, parent, "a/b", "c")
	end()
	used, endUsed := leave(t, parent, "a/b")
	defer endUsed()
	kept, end := leave(t, parent, "kept")
	end()
	for _, dir := range []string{prefix + "unlocked", "other"} {
		if err := os.MkdirAll(filepath.Join(parent, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	linked, end := leave(t, elsewhere, "a")
	end()
	if err := os.Symlink(linked, filepath.Join(parent, prefix+"link")); err != nil {
		t.Log(err) // as on Windows
	}

	Kind{
		Parent: parent, Prefix: prefix, Log: slog.New(slog.DiscardHandler),
		Keep: func(dir string) bool { return isThere(filepath.Join(dir, "kept")) },
	}.RemoveLeft()
	for dir, want := range map[string]bool{
		left: false, used: true, kept: true, linked: true,
		filepath.Join(used, "a", "b"): true, filepath.Join(linked, "a"): true,
		filepath.Join(parent, prefix+"unlocked"): true, filepath.Join(parent, "other"): true,
	} {
		if got := isThere(dir); got != want {
			t.Errorf("%s is there: %t, want %t", dir, got, want)
		}
	}
}

// TestRemove checks that a directory can be removed twice, as when a signal arrives meanwhile.
func TestRemove(t *testing.T) {
	dir, err := Kind{Parent: t.TempDir(), Prefix: prefix}.Make()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := dir.Remove(); err != nil || isThere(dir.Path) {
			t.Errorf("Remove: %v, there: %t", err, isThere(dir.Path))
		}
	}
}

// TestLockIn checks that a directory counts as made only if its lock is the file that others see.
func TestLockIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if lock, err := lockIn(dir); lock != nil || err != nil {
		t.Errorf("lockIn of a directory that was removed: %v, %v, want nothing", lock, err)
	}
	dir = t.TempDir()
	lock, err := lockIn(dir)
	if err != nil || lock == nil {
		t.Fatalf("lockIn: %v, %v", lock, err)
	}
	defer func() { _ = lock.Close() }()
	if !filelock.InPlace(lock) {
		t.Error("the lock is not where it was made")
	}
	if err := os.Remove(lock.Name()); err != nil {
		t.Skip(err)
	}
	if filelock.InPlace(lock) {
		t.Error("a lock that was removed is still taken for the one of the directory")
	}
}
