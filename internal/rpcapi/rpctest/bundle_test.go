// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
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
