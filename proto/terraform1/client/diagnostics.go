// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"fmt"
	"strings"

	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
)

// Severity says how bad something is.
type Severity int

// The severities. A server of a later version may send others.
const (
	SeverityError   = Severity(terraform1.Diagnostic_ERROR)
	SeverityWarning = Severity(terraform1.Diagnostic_WARNING)
)

// String returns "error" or "warning", or "notice" for any other severity.
func (s Severity) String() string {
	switch s {
	case SeverityError:
		return "error"
	case SeverityWarning:
		return "warning"
	}
	return "notice"
}

// Pos is a place in a file.
type Pos struct {
	Byte   int64 // from 0
	Line   int64 // from 1
	Column int64 // from 1, in characters as readers see them
}

// Range is a part of a file. End is not in it.
type Range struct {
	Source     string // address of the file, such as ./stack/main.tfcomponent.hcl; a path or another name for some
	Start, End Pos
}

// String returns the beginning of the range, as in "main.tf:3,1".
func (r Range) String() string {
	return fmt.Sprintf("%s:%d,%d", r.Source, r.Start.Line, r.Start.Column)
}

// Diagnostic is an error or a warning about the text of a user or the state of the world.
type Diagnostic struct {
	Severity Severity
	Summary  string
	Detail   string // may be empty, and may have several lines
	Subject  *Range // the faulty part; may be nil
	Context  *Range // the part to show with the subject; nil for that alone
}

// String returns the diagnostic in one line or more.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.Subject != nil {
		fmt.Fprintf(&b, "%s: ", d.Subject)
	}
	fmt.Fprintf(&b, "%s: %s", d.Severity, d.Summary)
	if d.Detail != "" {
		fmt.Fprintf(&b, ": %s", d.Detail)
	}
	return b.String()
}

// Diagnostics are diagnostics in the order in which they came.
type Diagnostics []Diagnostic

// HasErrors reports whether one of them is an error.
func (d Diagnostics) HasErrors() bool {
	for _, diagnostic := range d {
		if diagnostic.Severity == SeverityError {
			return true
		}
	}
	return false
}

// DiagnosticsError is the error of an operation that came to nothing because of its diagnostics.
type DiagnosticsError struct {
	Diagnostics Diagnostics
}

// Error returns the errors among the diagnostics, each in lines of its own.
func (e *DiagnosticsError) Error() string {
	var texts []string
	for _, diagnostic := range e.Diagnostics {
		if diagnostic.Severity == SeverityError {
			texts = append(texts, diagnostic.String())
		}
	}
	return strings.Join(texts, "\n")
}

// err returns the error of an operation with these diagnostics.
func (d Diagnostics) err() error {
	if d.HasErrors() {
		return &DiagnosticsError{d}
	}
	return nil
}

func newDiagnostics(messages []*terraform1.Diagnostic) Diagnostics {
	var diags Diagnostics
	for _, message := range messages {
		diags = append(diags, newDiagnostic(message))
	}
	return diags
}

func newDiagnostic(message *terraform1.Diagnostic) Diagnostic {
	return Diagnostic{
		Severity: Severity(message.GetSeverity()), Summary: message.GetSummary(), Detail: message.GetDetail(),
		Subject: newRange(message.GetSubject()), Context: newRange(message.GetContext()),
	}
}

func newRange(message *terraform1.SourceRange) *Range {
	if message == nil {
		return nil
	}
	return &Range{Source: message.GetSourceAddr(), Start: newPos(message.GetStart()), End: newPos(message.GetEnd())}
}

func newPos(message *terraform1.SourcePos) Pos {
	return Pos{Byte: message.GetByte(), Line: message.GetLine(), Column: message.GetColumn()}
}

func (r Range) message() *terraform1.SourceRange {
	return &terraform1.SourceRange{SourceAddr: r.Source, Start: r.Start.message(), End: r.End.message()}
}

func (p Pos) message() *terraform1.SourcePos {
	return &terraform1.SourcePos{Byte: p.Byte, Line: p.Line, Column: p.Column}
}
