// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package sealed

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/safefile"
)

// Files that nobody uses are removed, those of other kinds are not.
func TestUnused(t *testing.T) {
	dir := Dir{Path: t.TempDir(), Suffix: ".test", Kind: "test 1"}
	now := time.Now()
	age := func(name string, age time.Duration) string {
		t.Helper()
		path := filepath.Join(dir.Path, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	gone := []string{age("old.test", 2*keepUnused), age(safefile.TemporaryPrefix+"1", 2*keepUnused)}
	kept := []string{age("new.test", keepUnused/2), age("of somebody else", 2*keepUnused)}
	if err := dir.Store("used", []byte("content")); err != nil {
		t.Fatal(err)
	}
	for _, path := range gone {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
	for _, path := range kept {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
	// Reading says that a file is in use.
	used := filepath.Join(dir.Path, "used.test")
	if err := os.Chtimes(used, now.Add(-2*keepUnused), now.Add(-2*keepUnused)); err != nil {
		t.Fatal(err)
	}
	if content, whole := dir.Load("used"); !whole || string(content) != "content" {
		t.Fatalf("Load = %q, %t", content, whole)
	}
	if err := dir.Store("another", nil); err != nil {
		t.Fatal(err)
	}
	if _, whole := dir.Load("used"); !whole {
		t.Error("a file that was read is gone")
	}
}
