// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/bundle/sourcetest"
)

// Whatever an archive has, nothing outside of its directory changes, and after success all names and links in it
// lead to something inside.
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
		err := unpack(&packed, dir, Limits{Bytes: 1 << 20, Files: 100})
		entries, listErr := os.ReadDir(top)
		if listErr != nil || len(entries) != 1 {
			t.Fatalf("got %v, %v next to the package", entries, listErr)
		}
		if err != nil {
			return
		}
		if err := checkLinks(dir); err != nil {
			t.Error(err)
		}
		if _, err := hashDirectory(dir); err != nil {
			t.Error(err)
		}
	})
}

func FuzzLockFile(f *testing.F) {
	f.Add([]byte(lockFileHeader + "\nmodule \"example.com/a/b/c\" \"1.0.0\" {\n  hash = \"h1:x\"\n}\n"))
	f.Add([]byte("remote \"git::https://example.com/x.git\" {\n  commit = \"a\"\n  hash = \"h1:x\"\n}\n"))
	f.Add([]byte("component \"a\" {"))
	f.Fuzz(func(t *testing.T, src []byte) {
		path := filepath.Join(t.TempDir(), LockFileName)
		if err := os.WriteFile(path, src, 0o600); err != nil {
			t.Fatal(err)
		}
		locked, err := readLockFile(path)
		if err != nil {
			return
		}
		var packages []lockedPackage
		for _, entry := range locked {
			packages = append(packages, entry)
		}
		if err := writeLockFile(path, packages); err != nil {
			t.Fatal(err)
		}
		again, err := readLockFile(path)
		if err != nil || len(again) != len(locked) {
			t.Fatalf("got %v, %v, want %v", again, err, locked)
		}
		for id, want := range locked {
			if again[id] != want {
				t.Errorf("got %v, want %v", again[id], want)
			}
		}
	})
}
