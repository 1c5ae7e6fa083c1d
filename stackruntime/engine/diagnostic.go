// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// DiagnosticData is the knowledge of an engine about a diagnostic besides its text and its place.
// The Extra of a diagnostic is a pointer to it, or wraps one (see [hcl.DiagnosticExtraUnwrapper]),
// or there is none.
//
//	if data, ok := hcl.DiagnosticExtra[*engine.DiagnosticData](diag); ok { … }
type DiagnosticData struct {
	// Resource is the resource instance in the module that the diagnostic is about, or "".
	Resource string

	// Block is the block with the faulty expression, for example `resource "time_sleep" "wait"`, or
	// "".
	Block string

	// Provider is the part of a provider configuration that the diagnostic is about, or nil. Where
	// that is written is not known to the engine.
	Provider *ProviderArgument

	// References are the values of the references in the faulty expression.
	References []ReferenceValue

	// InDoubt are the resource instances for which the outcome of an apply is not known, as in
	// [Recovered.Doubts]. Until somebody has looked at them, nobody should plan again.
	InDoubt []string

	// Fault is one for which a program may know a remedy of its own, or "".
	Fault fault.Code
}

// ProviderArgument is a part of a provider configuration that a module was given.
type ProviderArgument struct {
	Slot ProviderSlot
	Path cty.Path // in the configuration; empty for all of it
}

// ReferenceValue is a reference with a statement about its value.
type ReferenceValue struct {
	Reference string // as it is written, such as "var.size"
	Statement string // such as "is 3"; of a sensitive value only that it is one
}

// ResourceAddress is Resource, for code that shows diagnostics of many kinds.
func (d *DiagnosticData) ResourceAddress() string { return d.Resource }

// BlockContext is Block, for code that shows diagnostics of many kinds.
func (d *DiagnosticData) BlockContext() string { return d.Block }

// ReferenceValues are the statements of References by their references, for code that shows
// diagnostics of many kinds.
func (d *DiagnosticData) ReferenceValues() map[string]string {
	values := make(map[string]string, len(d.References))
	for _, value := range d.References {
		values[value.Reference] = value.Statement
	}
	return values
}

// FaultOf returns the fault that a diagnostic names, whether an engine or its caller has found it;
// "" if it names none.
func FaultOf(diag *hcl.Diagnostic) fault.Code {
	if named, ok := hcl.DiagnosticExtra[fault.Named](diag); ok {
		return named.Code
	}
	if code, ok := hcl.DiagnosticExtra[fault.Code](diag); ok {
		return code
	}
	if data, ok := hcl.DiagnosticExtra[*DiagnosticData](diag); ok {
		return data.Fault
	}
	return ""
}
