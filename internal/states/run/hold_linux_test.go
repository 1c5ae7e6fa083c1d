// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/states/schedule"
)

// swap puts a link to another directory in the place of one, as its owner could at any time.
func swap(t *testing.T, dir string) {
	t.Helper()
	if err := os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	link(t, "other", filepath.Join(dir, "d"))
}

func swappable(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"d", "d/sub", "other", "other/sub"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestHold(t *testing.T) {
	dir := swappable(t)
	held, release, err := hold(filepath.Join(dir, "d", "sub"))
	if err != nil {
		t.Fatal(err)
	}
	swap(t, dir)
	write(t, filepath.Join(held, "f"), "x")
	release()
	if got := content(t, filepath.Join(dir, "moved", "sub", "f")); got != "x" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Lstat(filepath.Join(held, "f")); err == nil {
		t.Errorf("%s is still open", held)
	}
	for _, path := range []string{"d", "d/sub", "moved/sub/f", "none", "none/sub"} {
		if held, release, err := hold(filepath.Join(dir, path)); err == nil {
			t.Errorf("%s is held as %s", path, held)
			release()
		}
	}
	if held, release, err := hold("/"); err != nil {
		t.Error(err)
	} else {
		if _, err := os.Stat(filepath.Join(held, "proc")); err != nil {
			t.Error(err)
		}
		release()
	}
}

// TestSwappedDirectories: a changed file is in the directory that was looked at, or nowhere.
func TestSwappedDirectories(t *testing.T) {
	dir := swappable(t)
	src := fmt.Sprintf("%[1]s/d/sub/f: {file.managed: [contents: new, check_cmd: 'mv %[1]s/d %[1]s/moved; ln -s other %[1]s/d; :']}", dir)
	one(t, &Host{}, src, false, schedule.Changed)
	if got := content(t, filepath.Join(dir, "moved", "sub", "f")); got != "new\n" {
		t.Errorf("got %q", got)
	}

	dir = swappable(t)
	write(t, filepath.Join(dir, "other", "sub", "f"), "secret")
	swap(t, dir)
	path := filepath.Join(dir, "d", "sub", "f") // as it was resolved before
	f := &file{path: path, mode: 0o644, owner: owner{kept, kept}, contents: []byte("new")}
	if err := replaceFile(f, ".cairn-*", nil); err == nil {
		t.Error("the file was replaced")
	}
	if _, err := makeDirectory(filepath.Join(dir, "d", "new")); err == nil {
		t.Error("a directory was made")
	}
	if err := inPlace(path, os.RemoveAll); err == nil {
		t.Error("the file was removed")
	}
	if got := content(t, filepath.Join(dir, "other", "sub", "f")); got != "secret" {
		t.Errorf("got %q", got)
	}
}

// TestBackupsBehindLink are those of the user who has named the folder, and of nobody else.
func TestBackupsBehindLink(t *testing.T) {
	dir := swappable(t)
	swap(t, dir)
	path := filepath.Join(dir, "f")
	write(t, path, "old\n")
	result := one(t, &Host{Backups: filepath.Join(dir, "d")}, managed(path, "contents: new, backup: minion"), false, schedule.Changed)
	if got := content(t, fmt.Sprint(result.Changes.Get("backup"))); got != "old\n" {
		t.Errorf("got %q", got)
	}
}
