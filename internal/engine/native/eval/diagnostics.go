// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Diagnostics collects diagnostics from all tasks. The zero value has none.
type Diagnostics struct {
	mu struct {
		sync.Mutex
		all    hcl.Diagnostics
		cycles []*promising.CycleError
		hints  nearest.Hints
	}
}

// Add adds diagnostics, and reports whether none of them is an error.
func (d *Diagnostics) Add(diags ...*hcl.Diagnostic) bool {
	if len(diags) == 0 {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, diag := range diags {
		d.mu.all = append(d.mu.all, withProviderFunction(diag))
	}
	return !hcl.Diagnostics(diags).HasErrors()
}

// Problem adds an error about a place, and returns false.
func (d *Diagnostics) Problem(at hcl.Range, summary, detail string) bool {
	return d.Add(failure.At(at, summary, "%s", detail))
}

// DidYouMean offers the nearest of some names in a sentence with a space before it; "" if none is
// near.
func (d *Diagnostics) DidYouMean(given string, names iter.Seq[string]) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.hints.DidYouMean(given, names)
}

// withProviderFunction returns the diagnostic about a function that is not there with the words for
// those of providers, if it is one.
func withProviderFunction(diag *hcl.Diagnostic) *hcl.Diagnostic {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](diag)
	if !ok {
		return diag
	}
	name := call.CalledFunctionNamespace() + call.CalledFunctionName()
	if !strings.HasPrefix(name, "provider::") {
		return diag
	}
	reworded := *diag
	reworded.Summary = "Unknown provider function"
	if localName, function, ok := (lang.ProviderCall{Name: name}).Parts(); ok {
		reworded.Detail = fmt.Sprintf("There is no function %q. Declare %q in the required_providers of the module; its provider must have a "+
			"function %q.", name, localName, function)
	} else {
		reworded.Detail = "The name of a function of a provider is written provider::LOCALNAME::FUNCTION, with the name that " +
			"required_providers has for the provider."
	}
	return &reworded
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
