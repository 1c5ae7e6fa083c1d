// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"os"
	"path/filepath"
	"testing"
)

// A file that is there is not replaced.
func TestWriteNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), RescueFile)
	for i, want := range []string{path, path + ".2", path + ".3"} {
		got, err := writeNew(path, []byte{byte(i)})
		if err != nil || got != want {
			t.Errorf("writeNew: got %q, %v, want %q", got, err, want)
		}
		info, err := os.Stat(want)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", want, info, err)
		}
	}
}
