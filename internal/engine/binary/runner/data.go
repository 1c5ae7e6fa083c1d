// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import "github.com/cairnstacks/cairn/stackruntime/engine"

// Data returns the parts of a diagnostic besides its texts and its place. References are as the
// engine names them.
func (d *Diagnostic) Data() *engine.DiagnosticData {
	data := &engine.DiagnosticData{Resource: d.Address}
	if d.Snippet == nil {
		return data
	}
	data.Block = d.Snippet.Context
	for _, value := range d.Snippet.Values {
		data.References = append(data.References, engine.ReferenceValue{Reference: value.Traversal, Statement: value.Statement})
	}
	return data
}
