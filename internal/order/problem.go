// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// Code identifies a kind of problem, for programs.
type Code string

// The codes of problems, which all formats share.
const (
	CodeCycle          Code = "order/cycle"
	CodeConflict       Code = "order/conflict"        // one node is to be both before and after another
	CodeSelf           Code = "order/self"            // a node refers to itself
	CodeUnknownRef     Code = "order/unknown-ref"     // a name that is not defined
	CodeBadPath        Code = "order/bad-path"        // a path that does not exist or is no directory
	CodeBadTagQuery    Code = "order/bad-tag-query"   //
	CodeMultipleOwners Code = "order/multiple-owners" // two stacks claim the same directory
	CodeNoOwner        Code = "order/no-owner"        // no stack claims a directory
	CodeDuplicateID    Code = "order/duplicate-id"
	CodeBadStage       Code = "order/bad-stage"
	CodeBadNumber      Code = "order/bad-number"
	CodeNotASet        Code = "order/not-a-set"
	CodeSyntax         Code = "order/syntax"      // not the language of the format at all
	CodeUnknownKey     Code = "order/unknown-key" // a key that the format does not have
	CodeBadValue       Code = "order/bad-value"   // a value of the wrong type, or one that is missing
	CodeVersion        Code = "order/version"     // another version is required
)

// DiagnosticCode makes views show the code.
func (c Code) DiagnosticCode() string { return string(c) }

// Problem makes an error about a place. The range may be nil.
func Problem(code Code, subject *hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: subject, Extra: code,
	}
}

// Warning is [Problem] with less severity.
func Warning(code Code, subject *hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	diag := Problem(code, subject, summary, detail, args...)
	diag.Severity = hcl.DiagWarning
	return diag
}

// CodeOf returns the code of a diagnostic, "" if it has none.
func CodeOf(diag *hcl.Diagnostic) Code {
	code, _ := hcl.DiagnosticExtra[Code](diag)
	return code
}

// Diagnostics tells what [Builder.Build] found, each cycle at the place of its first edge that has one.
func Diagnostics(err error) hcl.Diagnostics {
	var cycles CycleErrors
	if !errors.As(err, &cycles) {
		return nil
	}
	var diags hcl.Diagnostics
	for _, cycle := range cycles {
		code, summary, text := CodeCycle, "Order with a cycle", upperFirst(cycle.Error())
		if len(cycle.Nodes) == 1 {
			code, summary, text = CodeSelf, "Order of something and itself", cycle.Error() // which begins with a name
		}
		diags = diags.Append(Problem(code, cycle.Subject(), summary, "%s.", text))
	}
	return diags
}

// Subject is the place of the first edge that has one; nil if none has.
func (e *CycleError) Subject() *hcl.Range {
	for _, edge := range e.Edges {
		if edge.Place.File != "" {
			at := hcl.Pos{Line: edge.Place.Line, Column: edge.Place.Column}
			return &hcl.Range{Filename: edge.Place.File, Start: at, End: at}
		}
	}
	return nil
}

// PlaceOf returns where a range begins.
func PlaceOf(r hcl.Range) Place {
	return Place{File: r.Filename, Line: r.Start.Line, Column: r.Start.Column}
}

// PlaceAt does the same where there may be none: nil is nowhere.
func PlaceAt(r *hcl.Range) Place {
	if r == nil {
		return Place{}
	}
	return PlaceOf(*r)
}

func upperFirst(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}
