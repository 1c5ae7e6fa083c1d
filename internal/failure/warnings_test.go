// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package failure_test

import (
	"testing"

	"github.com/cairnstacks/cairn/internal/failure"
)

// Each thing is said once, also after it was taken.
func TestWarnings(t *testing.T) {
	var w failure.Warnings
	w.Add(failure.Warning("Secrets readable by others", "The file %s.", "a"))
	w.Add(failure.Warning("Secrets readable by others", "The file %s.", "b"))
	w.Add(failure.Warning("Secrets readable by others", "The file %s.", "a"))
	if got := w.Take(); len(got) != 2 || got[0].Detail != "The file a." || got[1].Detail != "The file b." {
		t.Errorf("Take() = %v, want a and b", got)
	}
	w.Add(failure.Warning("Secrets readable by others", "The file %s.", "b"))
	if got := w.Take(); len(got) != 0 {
		t.Errorf("Take() = %v after all was taken", got)
	}
}
