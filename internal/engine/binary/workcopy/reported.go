// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import "github.com/cairnstacks/cairn/stackruntime/engine"

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
