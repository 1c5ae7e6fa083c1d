// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package safefile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/testenv"
)

func TestRead(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{
		filepath.Join(dir, "short"): "12345", filepath.Join(dir, "long"): "1234567", filepath.Join(outside, "secret"): "s",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Symlink(t, "short", filepath.Join(dir, "inside"))
	testenv.Symlink(t, filepath.Join(outside, "secret"), filepath.Join(dir, "outside"))
	testenv.Symlink(t, "loop", filepath.Join(dir, "loop"))
	testenv.Symlink(t, "/dev/zero", filepath.Join(dir, "endless"))
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // nothing was written
	for name, want := range map[string]string{"short": "12345", "long": "123456", "inside": "12345"} {
		if got, err := safefile.Read(root.FS(), name, 5); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		".": "not an ordinary file", "nowhere": "no such file", "outside": "escapes", "loop": "too many levels", "endless": "escapes",
	} {
		got, err := safefile.Read(root.FS(), name, 5)
		var pathError *fs.PathError
		if got != nil || !errors.As(err, &pathError) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v, want an error with %q", name, got, err, want)
		}
	}
	_, err = safefile.Read(root.FS(), ".", 5)
	if got, want := safefile.Reason(fmt.Errorf("reading: %w", err)), "it is not an ordinary file"; got != want {
		t.Errorf("reason: %s, want %s", got, want)
	}
	if _, err := safefile.Read(os.DirFS(dir), "endless", 5); !errors.Is(err, safefile.ErrNotRegular) {
		t.Errorf("a device: %v", err)
	}
}

// A file is replaced with its mode, or stays as it is, and nothing else is left behind.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	for content, mode := range map[string]fs.FileMode{"secret": 0o600, "public": 0o644} {
		if err := safefile.Replace(name, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != content {
			t.Errorf("got %q, %v, want %q", got, err, content)
		}
		if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != mode {
			t.Errorf("%s: got mode %v, %v, want %v", content, info.Mode(), err, mode)
		}
	}
	if err := safefile.Replace(dir, nil, 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	for _, in := range []string{dir, filepath.Dir(dir)} {
		if left, err := filepath.Glob(filepath.Join(in, safefile.TemporaryPrefix+"*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}
