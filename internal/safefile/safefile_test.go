// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package safefile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
