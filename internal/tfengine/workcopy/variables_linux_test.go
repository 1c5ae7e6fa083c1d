// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Rule W5: a process that inherits the values can read them by name as often as it likes, and nobody else.
func TestSharedVariablesAreOnNoDisk(t *testing.T) {
	c := &Copy{Root: t.TempDir(), variables: []byte(`{"token":"hush"}`)}
	shared, err := c.ShareVariables()
	if err != nil || shared == nil {
		t.Fatalf("ShareVariables() = %v, %v; want a file without a place on a disk", shared, err)
	}
	defer shared.Close() //nolint:errcheck // not written
	name := filepath.Join(c.Root, VariablesFile)
	if info, err := os.Lstat(name); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("%s is %v, %v; want a link", VariablesFile, info, err)
	}
	cmd := exec.Command("cat", name, name)
	cmd.ExtraFiles = []*os.File{shared}
	out, err := cmd.CombinedOutput()
	if want := `{"token":"hush"}{"token":"hush"}`; err != nil || string(out) != want {
		t.Errorf("reading twice: %q, %v; want %q", out, err, want)
	}
	if _, err := shared.WriteAt([]byte("x"), 0); err == nil {
		t.Error("the values can be changed by who inherits them")
	}

	again, err := c.ShareVariables() // a second process of the same working copy
	if err != nil || again == nil {
		t.Fatalf("ShareVariables() = %v, %v the second time", again, err)
	}
	again.Close() //nolint:errcheck // not written
}
