// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv_test

import (
	"cmp"
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// endingTest notes how a helper would have ended the test first, and goes on.
type endingTest struct {
	testing.TB
	ended string
}

func (e *endingTest) Skip(...any)  { e.ended = cmp.Or(e.ended, "skipped") }
func (e *endingTest) Fatal(...any) { e.ended = cmp.Or(e.ended, "failed") }

// What cannot be mounted is a reason to skip a test, but not unseen on CI.
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
