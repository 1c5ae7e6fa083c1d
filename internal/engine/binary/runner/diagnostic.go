// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import "github.com/hashicorp/hcl/v2"

// The severities of diagnostics.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// Diagnostic is an error or warning as the engine reports it in events.
type Diagnostic struct {
	Severity string   `json:"severity"`
	Summary  string   `json:"summary"`
	Detail   string   `json:"detail"`
	Address  string   `json:"address,omitempty"` // of the resource instance concerned
	Range    *Range   `json:"range,omitempty"`
	Snippet  *Snippet `json:"snippet,omitempty"`
}

// Range is a part of a source file. Filename is relative to the directory in which the process ran.
type Range struct {
	Filename string `json:"filename"`
	Start    Pos    `json:"start"`
	End      Pos    `json:"end"`
}

// Pos is a place in a source file. Line and Column count from 1, columns in characters; Byte counts
// from 0.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Snippet is the source text that a diagnostic is about.
type Snippet struct {
	// Context is the header of the block that the text is in, for example `resource "time_sleep"
	// "wait"`. May be empty.
	Context string `json:"context"`

	// Code is one or more whole lines. The offsets in it, in bytes, say which part is at fault.
	Code                 string `json:"code"`
	StartLine            int    `json:"start_line"`
	HighlightStartOffset int    `json:"highlight_start_offset"`
	HighlightEndOffset   int    `json:"highlight_end_offset"`

	// Values describes the references in the faulty expression, without revealing sensitive ones.
	Values []ExpressionValue `json:"values"`

	FunctionCall *FunctionCall `json:"function_call,omitempty"`
}

// ExpressionValue is a reference in an expression and a statement about its value, for example
// `var.x` and `is "a"`.
type ExpressionValue struct {
	Traversal string `json:"traversal"`
	Statement string `json:"statement"`
}

// FunctionCall is the function whose call failed.
type FunctionCall struct {
	CalledAs string `json:"called_as"`
}

// HCL returns a diagnostic with the place and the texts as they were reported, and
// [engine.DiagnosticData] with all else.
func (d *Diagnostic) HCL() *hcl.Diagnostic {
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: d.Summary, Detail: d.Detail, Extra: d.Data()}
	if d.Severity == SeverityWarning {
		diag.Severity = hcl.DiagWarning
	}
	if d.Range != nil {
		diag.Subject = &hcl.Range{Filename: d.Range.Filename, Start: hcl.Pos(d.Range.Start), End: hcl.Pos(d.Range.End)}
	}
	return diag
}
