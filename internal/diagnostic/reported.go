// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostic

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// The severities of diagnostics in JSON.
const (
	Error   = "error"
	Warning = "warning"
)

// HCL returns a diagnostic that terraform or tofu has reported: with the place and the texts as
// they were, and [engine.DiagnosticData] with all else. Names of files are relative to the
// directory in which the process ran.
func (d *Diagnostic) HCL() *hcl.Diagnostic {
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: d.Summary, Detail: d.Detail, Extra: d.Data()}
	if d.Severity == Warning {
		diag.Severity = hcl.DiagWarning
	}
	if d.Range != nil {
		diag.Subject = &hcl.Range{Filename: d.Range.Filename, Start: hcl.Pos(d.Range.Start), End: hcl.Pos(d.Range.End)}
	}
	return diag
}

// Data returns the resource instance, the block and the values of references.
func (d *Diagnostic) Data() *engine.DiagnosticData {
	data := &engine.DiagnosticData{Resource: d.Address, Block: d.Block()}
	if d.Snippet != nil {
		for _, value := range d.Snippet.Values {
			data.References = append(data.References, engine.ReferenceValue{Reference: value.Traversal, Statement: value.Statement})
		}
	}
	return data
}

// Block returns the header of the block that the code is in; empty if it is not known.
func (d *Diagnostic) Block() string {
	if d.Snippet == nil || d.Snippet.Context == nil {
		return ""
	}
	return *d.Snippet.Context
}
