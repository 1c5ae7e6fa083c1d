// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"slices"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Reported is the [hcl.Diagnostic.Extra] of diagnostics of the engine.
type Reported struct {
	// Address is the resource instance concerned, or empty.
	Address string

	// Context is the block with the faulty expression, for example `resource "time_sleep" "wait"`.
	Context string

	// Provider is the part of a provider configuration concerned, or nil.
	Provider *engine.ProviderArgument

	// Values says what the references in the expression stood for, without revealing sensitive values.
	Values []ExpressionValue
}

// NewReported returns what the engine says besides the texts and the place of a diagnostic.
func NewReported(d *Diagnostic) *Reported {
	reported := &Reported{Address: d.Address}
	if d.Snippet != nil {
		reported.Context, reported.Values = d.Snippet.Context, slices.Clone(d.Snippet.Values)
	}
	return reported
}

var _ engine.AboutProvider = (*Reported)(nil)

// ProviderArgument implements [engine.AboutProvider].
func (r *Reported) ProviderArgument() *engine.ProviderArgument { return r.Provider }

// ResourceAddress is the resource instance that the diagnostic is about, or empty.
func (r *Reported) ResourceAddress() string { return r.Address }

// BlockContext is the block with the faulty expression, or empty.
func (r *Reported) BlockContext() string { return r.Context }

// ReferenceValues says what the references in the faulty expression stood for,
// as the engine tells people: without revealing sensitive values.
func (r *Reported) ReferenceValues() map[string]string {
	values := make(map[string]string, len(r.Values))
	for _, value := range r.Values {
		values[value.Traversal] = value.Statement
	}
	return values
}
