// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package remote_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/engine/native/provision/remote"
	"github.com/cairnstacks/cairn/internal/engine/native/provision/sshtest"
)

// copied is the expected contents of a directory: by names, the text of files, and "/" for
// directories.
type copied map[string]string

func contents(t *testing.T, dir string) copied {
	t.Helper()
	found := copied{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			found[name] = "/"
			return nil
		}
		text, err := os.ReadFile(path)
		found[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestCopy(t *testing.T) {
	opts := options(sshtest.Start(t))
	source := filepath.Join(t.TempDir(), "src")
	for name, text := range map[string]string{"a": "text a", "sub/b $x'": strings.Repeat("b", 1<<20)} {
		path := filepath.Join(source, name)
		if err := errors.Join(os.MkdirAll(filepath.Join(source, "empty"), 0o700), os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", filepath.Join(source, "link")); err != nil {
		t.Fatal(err)
	}
	inside := copied{"a": "text a", "link": "text a", "empty": "/", "sub": "/", "sub/b $x'": strings.Repeat("b", 1<<20)}
	whole := copied{"src": "/"}
	for name, text := range inside {
		whole["src/"+name] = text
	}
	for name, test := range map[string]struct {
		copy func(m *remote.Machine, to string) error
		want copied
	}{
		"content of a directory": {
			func(m *remote.Machine, to string) error { return m.CopyTree(t.Context(), "scp -rt "+to, source, true) },
			inside,
		},
		"directory": {func(m *remote.Machine, to string) error { return m.CopyTree(t.Context(), "scp -rt "+to, source, false) }, whole},
		"file": {func(m *remote.Machine, to string) error {
			return m.CopyFile(t.Context(), "scp -t "+to, remote.File{
				Name:    "new",
				Mode:    0o640,
				Size:    4,
				Content: strings.NewReader("text, of which only the beginning counts"),
			})
		}, copied{"new": "text"}},
	} {
		t.Run(name, func(t *testing.T) {
			to := t.TempDir()
			if err := remote.Connect(t.Context(), opts, func(m *remote.Machine) error { return test.copy(m, to) }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, contents(t, to)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A failure to copy is reported, with the side that it comes from.
func TestCopyFails(t *testing.T) {
	opts := options(sshtest.Start(t))
	dir := t.TempDir()
	link, pipe := filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := os.MkdirAll(link, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(link, filepath.Join(link, "itself")), os.Mkdir(pipe, 0o700),
		syscall.Mkfifo(filepath.Join(pipe, "p"), 0o600)); err != nil {
		t.Fatal(err)
	}
	file := func(size int64) remote.File {
		return remote.File{Name: "f", Mode: 0o600, Size: size, Content: strings.NewReader("text")}
	}
	for want, copying := range map[string]func(*remote.Machine) error{
		"No such file": func(m *remote.Machine) error { return m.CopyFile(t.Context(), "scp -t "+dir+"/missing/.", file(4)) },
		"shorter":      func(m *remote.Machine) error { return m.CopyFile(t.Context(), "scp -t "+t.TempDir(), file(5)) },
		"not found":    func(m *remote.Machine) error { return m.CopyFile(t.Context(), "no-scp -t "+t.TempDir(), file(4)) },
		"something else than scp": func(m *remote.Machine) error {
			return m.CopyFile(t.Context(), "echo welcome; scp -t "+t.TempDir(), file(4))
		},
		"too many levels": func(m *remote.Machine) error { return m.CopyTree(t.Context(), "scp -rt "+t.TempDir(), link, true) },
		"regular":         func(m *remote.Machine) error { return m.CopyTree(t.Context(), "scp -rt "+t.TempDir(), pipe, true) },
	} {
		err := remote.Connect(t.Context(), opts, copying)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}
