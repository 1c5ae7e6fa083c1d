// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// writeBundle makes a source bundle without packages.
func writeBundle(t testing.TB, dir string) {
	t.Helper()
	writeFile(t, filepath.Join(dir, "terraform-sources.json"), `{"terraform_source_bundle":1,"packages":[],"registry":[],"components":[]}`)
}

// writeFile writes a file and makes its directory.
func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeMirror makes a mirror with the provider example.com/foo/bar 1.2.3 for a platform, and
// returns the hash of its package.
func writeMirror(t testing.TB, platform string) (dir, hash string) {
	t.Helper()
	archive := zipped(t, "terraform-provider-bar_v1.2.3", "not really a program")
	dir = t.TempDir()
	writeFile(t, filepath.Join(dir, "example.com", "foo", "bar", "terraform-provider-bar_1.2.3_"+platform+".zip"), string(archive))
	return dir, fmt.Sprintf("zh:%x", sha256.Sum256(archive))
}
