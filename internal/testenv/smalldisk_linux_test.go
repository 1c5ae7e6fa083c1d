// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv_test

import (
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// A disk that cannot be mounted is a reason to skip a test, but not unseen on CI.
func TestSmallDiskMissing(t *testing.T) {
	testenv.Root(t)
	t.Setenv(testenv.SkippedVariable, "")
	for ci, want := range map[string]string{"": "skipped", "1": "failed"} {
		t.Setenv("CI", ci)
		recorded := &endingTest{TB: t}
		testenv.SmallDisk(recorded, filepath.Join(t.TempDir(), "missing"), 1<<20)
		if recorded.ended != want {
			t.Errorf("CI=%q: the test is %q, want %q", ci, recorded.ended, want)
		}
	}
}
