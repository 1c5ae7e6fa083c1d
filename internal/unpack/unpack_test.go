// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package unpack_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/bundle/sourcetest"
	"github.com/cairnstacks/cairn/internal/unpack"
)

// With any archive, nothing outside of its directory changes, and after success all names and links
// in it lead to something inside.
func FuzzUnpack(f *testing.F) {
	f.Add("a/b", "content", "../b/c", byte(tar.TypeSymlink))
	f.Add("../a", "content", "a", byte(tar.TypeLink))
	f.Add("/etc/x", "", "..", byte(tar.TypeSymlink))
	f.Add("a/../../b", "x", ".", byte(tar.TypeReg))
	f.Fuzz(func(t *testing.T, name, content, link string, kind byte) {
		top := t.TempDir()
		dir := filepath.Join(top, "package")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		if !sourcetest.TryPack(&packed,
			sourcetest.Entry{Name: "b/file", Content: content},
			sourcetest.Entry{Name: "link", Link: link, Type: kind},
			sourcetest.Entry{Name: name, Content: content},
			sourcetest.Entry{Name: "link/" + name, Content: content}) {
			t.Skip("no archive can be made of it")
		}
		err := unpack.Tar(t.Context(), &packed, dir, unpack.Limits{Bytes: 1 << 20, Files: 100})
		entries, listErr := os.ReadDir(top)
		if listErr != nil || len(entries) != 1 {
			t.Fatalf("got %v, %v next to the package", entries, listErr)
		}
		if err != nil {
			return
		}
		if err := unpack.CheckLinks(dir); err != nil {
			t.Error(err)
		}
	})
}

// entry is a file in a zip archive.
type entry struct {
	name, content string
	mode          fs.FileMode
}

// zipOf writes an archive and returns its path.
func zipOf(t testing.TB, entries ...entry) string {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		header.SetMode(e.mode)
		file, err := w.CreateHeader(header)
		if err != nil {
			t.Skip(err)
		}
		if _, err := file.Write([]byte(e.content)); err != nil && !strings.HasSuffix(e.name, "/") {
			t.Skip(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "x.zip")
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestZip(t *testing.T) {
	dir := t.TempDir()
	archive := zipOf(t, entry{"d/", "", fs.ModeDir | 0o755}, entry{"d/program", "x", 0o755}, entry{"text", "y", 0o600},
		entry{"link", "d/program", fs.ModeSymlink | 0o777})
	if err := unpack.Zip(t.Context(), archive, dir, unpack.Limits{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"d/program": "x", "text": "y", "link": "x"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "d", "program")); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("the program cannot be run: %v, %v", info, err)
	}
}

func TestZipHostile(t *testing.T) {
	for name, test := range map[string]struct {
		entries []entry
		want    string
	}{
		"up":            {[]entry{{"../x", "x", 0o600}}, "leads out of it"},
		"inside up":     {[]entry{{"a/../../x", "x", 0o600}}, "leads out of it"},
		"absolute":      {[]entry{{"/tmp/x", "x", 0o600}}, "leads out of it"},
		"backslash":     {[]entry{{"..\\x", "x", 0o600}}, "leads out of it"},
		"link out":      {[]entry{{"x", "/etc/passwd", fs.ModeSymlink | 0o777}}, "leads out of it"},
		"link up":       {[]entry{{"x", "../..", fs.ModeSymlink | 0o777}}, "leads out of it"},
		"through link":  {[]entry{{"x", "../..", fs.ModeSymlink | 0o777}, {"x/y", "z", 0o600}}, ""},
		"device":        {[]entry{{"x", "", fs.ModeDevice | 0o600}}, "neither a file"},
		"pipe":          {[]entry{{"x", "", fs.ModeNamedPipe | 0o600}}, "neither a file"},
		"huge file":     {[]entry{{"x", strings.Repeat("x", 2<<20), 0o600}}, "too large"},
		"many files":    {[]entry{{"a", "", 0o600}, {"b", "", 0o600}, {"c", "", 0o600}, {"d", "", 0o600}}, "too many files"},
		"nothing in it": {nil, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "package")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			err := unpack.Zip(t.Context(), zipOf(t, test.entries...), dir, unpack.Limits{Bytes: 1 << 20, Files: 3})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if entries, err := os.ReadDir(top); err != nil || len(entries) != 1 {
				t.Errorf("got %v, %v next to the package", entries, err)
			}
		})
	}
}

func TestZipDamaged(t *testing.T) {
	whole, err := os.ReadFile(zipOf(t, entry{"x", strings.Repeat("abc", 1000), 0o600}))
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[40] ^= 0xff
	for name, content := range map[string][]byte{"empty": nil, "text": []byte("<html>"), "cut off": whole[:len(whole)/2], "flipped": flipped} {
		path := filepath.Join(t.TempDir(), "x.zip")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := unpack.Zip(t.Context(), path, t.TempDir(), unpack.Limits{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// With any file, nothing outside of the directory changes.
func FuzzZip(f *testing.F) {
	for _, entries := range [][]entry{{{"../x", "x", 0o600}}, {{"x", "../..", fs.ModeSymlink | 0o777}, {"x/y", "z", 0o600}}} {
		content, err := os.ReadFile(zipOf(f, entries...))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "x.zip")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		top := t.TempDir()
		dir := filepath.Join(top, "package")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		err := unpack.Zip(t.Context(), path, dir, unpack.Limits{Bytes: 1 << 20, Files: 100})
		if entries, listErr := os.ReadDir(top); listErr != nil || len(entries) != 1 {
			t.Fatalf("got %v, %v next to the package", entries, listErr)
		}
		if err == nil {
			if err := unpack.CheckLinks(dir); err != nil {
				t.Error(err)
			}
		}
	})
}

// A caller that waits no longer does not wait for the rest of an archive, not even of one file in
// it.
func TestUnpackingEnds(t *testing.T) {
	ended := errors.New("ended")
	ctx, end := context.WithCancelCause(t.Context())
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressed)
	content := make([]byte, 10<<20)
	err := archive.WriteHeader(&tar.Header{Name: "file", Mode: 0o644, Size: int64(len(content))})
	if err == nil {
		_, err = archive.Write(content)
	}
	if err := errors.Join(err, archive.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	reading := readerFunc(func(p []byte) (int, error) { // it ends while the file is written
		n, err := packed.Read(p)
		if info, statErr := os.Stat(filepath.Join(dir, "file")); statErr == nil && info.Size() > 0 {
			end(ended)
		}
		return n, err
	})
	if err := unpack.Tar(ctx, reading, dir, unpack.Limits{}); !errors.Is(err, ended) {
		t.Errorf("unpacking a tar archive: got %v, want %v", err, ended)
	}
	if err := unpack.Zip(ctx, zipOf(t, entry{name: "file", content: "x", mode: 0o644}), t.TempDir(), unpack.Limits{}); !errors.Is(err, ended) {
		t.Errorf("unpacking a zip archive: got %v, want %v", err, ended)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
