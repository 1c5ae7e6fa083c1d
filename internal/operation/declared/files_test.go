// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package declared

import (
	"os"
	"path/filepath"
	"testing"
)

// Deployment files are read once for all operations, as long as they are the same.
func TestFilesAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var known Known
	if got := known.In(dir); got.Config != nil {
		t.Fatal("there is a configuration without files")
	}
	write("a.tfdeploy.hcl", "deployment \"a\" {\n  inputs = {}\n}\n")
	first := known.In(dir)
	if known.In(dir) != first {
		t.Error("files that have not changed are read again")
	}
	write("a.tfdeploy.hcl", "deployment \"b\" {\n  inputs = {}\n}\n")
	second := known.In(dir)
	if second == first || second.Config.Deployments["b"] == nil {
		t.Error("a file that has changed is not read again")
	}
	write("b.tfdeploy.hcl", "deployment \"c\" {\n  inputs = {}\n}\n")
	if got := known.In(dir).Config.Order; len(got) != 2 {
		t.Errorf("with another file the deployments are %q", got)
	}
}
