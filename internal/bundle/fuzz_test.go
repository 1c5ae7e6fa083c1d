// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"os"
	"path/filepath"
	"testing"
)

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
