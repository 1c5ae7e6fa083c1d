// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Diagnostics collects diagnostics from all tasks. The zero value has none.
type Diagnostics struct {
	mu struct {
		sync.Mutex
		all    hcl.Diagnostics
		cycles []*promising.CycleError
	}
}

// Add adds diagnostics, and reports whether none of them is an error.
func (d *Diagnostics) Add(diags ...*hcl.Diagnostic) bool {
	if len(diags) == 0 {
		return true
	}
	d.mu.Lock()
	d.mu.all = append(d.mu.all, diags...)
	d.mu.Unlock()
	return !hcl.Diagnostics(diags).HasErrors()
}

// AddTo adds diagnostics that are about a resource instance.
func (d *Diagnostics) AddTo(resource string, diags ...*hcl.Diagnostic) bool {
	for _, diag := range diags {
		if diag.Extra == nil {
			diag.Extra = &engine.DiagnosticData{Resource: resource}
		}
	}
	return d.Add(diags...)
}

// All returns the diagnostics so far. They are in no order.
func (d *Diagnostics) All() hcl.Diagnostics {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append(hcl.Diagnostics(nil), d.mu.all...)
}

// HasErrors reports whether an error was added.
func (d *Diagnostics) HasErrors() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.all.HasErrors()
}

// Failed deals with the error of an await. Cycles are reported once; if the operation ends,
// everybody notices.
func (d *Diagnostics) Failed(err error, at *hcl.Range) {
	cycle, ok := errors.AsType[*promising.CycleError](err)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, known := range d.mu.cycles {
		if known.SameCycle(cycle) {
			return
		}
	}
	d.mu.cycles = append(d.mu.cycles, cycle)
	d.mu.all = append(d.mu.all, &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Circular dependency",
		Detail:   fmt.Sprintf("These objects depend on each other: %s.", strings.Join(cycle.RotatedNames(), ", ")),
		Subject:  at,
	})
}
