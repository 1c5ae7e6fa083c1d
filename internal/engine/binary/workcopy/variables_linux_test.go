// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"os"
	"path/filepath"
	"testing"
)

// Rule W5: values of variables are in no file.
func TestSharedVariablesAreOnNoDisk(t *testing.T) {
	c := &Copy{Root: t.TempDir(), variables: []byte(`{"token":"hush"}`)}
	for range 2 { // two processes of the same working copy
		piped, err := c.ShareVariables()
		if err != nil || string(piped) != `{"token":"hush"}` {
			t.Fatalf("ShareVariables() = %s, %v; want the values", piped, err)
		}
		name := filepath.Join(c.Root, VariablesFile)
		if target, err := os.Readlink(name); err != nil || target != descriptorPath {
			t.Errorf("%s leads to %q, %v; want the descriptor", VariablesFile, target, err)
		}
	}
}
