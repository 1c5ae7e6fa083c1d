// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// leave makes the directory of a server, with a file at each of the paths in it, and reports how to end the server without cleaning up.
func leave(t *testing.T, parent string, paths ...string) (dir string, end func()) {
	t.Helper()
	dir, lock, err := makeLocked(parent)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, func() { _ = lock.Close() } // as the end of a process does
}

func isThere(dir string) bool {
	_, err := os.Lstat(dir)
	return err == nil
}

func TestRemoveLeft(t *testing.T) {
	parent, elsewhere := t.TempDir(), t.TempDir()
	left, end := leave(t, parent, "stack-1/ab/init/provider", "stack-2/x")
	end()
	used, endUsed := leave(t, parent, "stack-1/ab/init/provider")
	defer endUsed()
	cutOff, end := leave(t, parent, "stack-1/ab/runs/native/x.journal")
	end()
	ofDeployment, end := leave(t, parent, "stack-1/ab/deployments/prod/runs/1/lock")
	end()
	noRuns, end := leave(t, parent, "stack-1/ab/x")
	end()
	for _, dir := range []string{filepath.Join(noRuns, "stack-1", "ab", "runs", "native"), filepath.Join(parent, tempPrefix+"unlocked"), filepath.Join(parent, "other")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	linked, end := leave(t, elsewhere, "stack-1/x")
	end()
	if err := os.Symlink(linked, filepath.Join(parent, tempPrefix+"link")); err != nil {
		t.Log(err) // as on Windows
	}

	removeLeft(parent, slog.New(slog.DiscardHandler))
	for dir, want := range map[string]bool{
		left: false, noRuns: false, used: true, cutOff: true, ofDeployment: true, linked: true,
		filepath.Join(used, "stack-1", "ab", "init", "provider"): true, filepath.Join(linked, "stack-1", "x"): true,
		filepath.Join(parent, tempPrefix+"unlocked"): true, filepath.Join(parent, "other"): true,
	} {
		if got := isThere(dir); got != want {
			t.Errorf("%s is there: %t, want %t", dir, got, want)
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
	if !isAt(lock, filepath.Join(dir, tempLock)) {
		t.Error("the lock is not where it was made")
	}
	if err := os.Remove(lock.Name()); err != nil {
		t.Skip(err)
	}
	if isAt(lock, filepath.Join(dir, tempLock)) {
		t.Error("a lock that was removed is still taken for the one of the directory")
	}
}
