// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package failure

import (
	"sync"

	"github.com/hashicorp/hcl/v2"
)

// Warnings collects the warnings of an activity, each once. The zero value is empty. It is safe for
// concurrent use.
type Warnings struct {
	mu struct {
		sync.Mutex
		found hcl.Diagnostics
		known map[string]bool // details
	}
}

// Add adds a warning, unless one with the same detail was there before, also one that was taken.
func (w *Warnings) Add(diag *hcl.Diagnostic) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.known[diag.Detail] {
		return
	}
	if w.mu.known == nil {
		w.mu.known = map[string]bool{}
	}
	w.mu.known[diag.Detail] = true
	w.mu.found = w.mu.found.Append(diag)
}

// Take returns the warnings that were not taken before.
func (w *Warnings) Take() hcl.Diagnostics {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := w.mu.found
	w.mu.found = nil
	return found
}
