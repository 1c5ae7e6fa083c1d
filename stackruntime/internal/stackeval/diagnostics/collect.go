// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostics

import (
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
)

// Sink collects diagnostics from many tasks.
type Sink struct {
	mu struct {
		sync.Mutex
		diags hcl.Diagnostics
	}
}

func (s *Sink) Add(diags hcl.Diagnostics) {
	if len(diags) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.diags = s.mu.diags.Extend(diags)
}

func (s *Sink) All() hcl.Diagnostics {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mu.diags)
}
