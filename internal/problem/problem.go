// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package problem describes mistakes in files that put work in order: diagnostics of HCL with codes
// that programs know. It also leads from ranges of files to the places of package order, which
// knows nothing of files, and back.
package problem

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order"
)

// Code identifies a kind of problem, for programs.
type Code string

// The codes of problems, which all formats share.
const (
	Cycle          Code = "order/cycle"
	Conflict       Code = "order/conflict"        // one node is to be both before and after another
	Self           Code = "order/self"            // a node refers to itself
	UnknownRef     Code = "order/unknown-ref"     // a name that is not defined
	BadPath        Code = "order/bad-path"        // a path that does not exist or is not a directory
	BadTagQuery    Code = "order/bad-tag-query"   //
	MultipleOwners Code = "order/multiple-owners" // two stacks claim the same directory
	NoOwner        Code = "order/no-owner"        // no stack claims a directory
	DuplicateID    Code = "order/duplicate-id"
	BadStage       Code = "order/bad-stage"
	BadNumber      Code = "order/bad-number"
	NotASet        Code = "order/not-a-set"
	Syntax         Code = "order/syntax"      // not the language of the format at all
	UnknownKey     Code = "order/unknown-key" // a key that the format does not have
	BadValue       Code = "order/bad-value"   // a value of the wrong type, or one that is missing
	Version        Code = "order/version"     // another version is required
)

// DiagnosticCode makes views show the code.
func (c Code) DiagnosticCode() string { return string(c) }

// New makes an error about a place. The range may be nil.
func New(code Code, subject *hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: subject, Extra: code,
	}
}

// Warning is [New] with less severity.
func Warning(code Code, subject *hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	diag := New(code, subject, summary, detail, args...)
	diag.Severity = hcl.DiagWarning
	return diag
}

// CodeOf returns the code of a diagnostic, "" if it has none.
func CodeOf(diag *hcl.Diagnostic) Code {
	code, _ := hcl.DiagnosticExtra[Code](diag)
	return code
}

// OfCycles returns diagnostics for the error of [order.Builder.Build], each cycle at the place of
// its first edge that has one. For all other errors, and nil, it returns nothing.
func OfCycles(err error) hcl.Diagnostics {
	var cycles order.CycleErrors
	if !errors.As(err, &cycles) {
		return nil
	}
	var diags hcl.Diagnostics
	for _, cycle := range cycles {
		code, summary, text := Cycle, "Cycle in the order", upperFirst(cycle.Error())
		if len(cycle.Nodes) == 1 {
			code, summary, text = Self, "Self-dependency in the order", cycle.Error() // which begins with a name
		}
		diags = diags.Append(New(code, RangeAt(cycle.Place()), summary, "%s.", text))
	}
	return diags
}

// RangeAt returns the empty range at a place, nil for nowhere.
func RangeAt(place order.Place) *hcl.Range {
	if place.File == "" {
		return nil
	}
	at := hcl.Pos{Line: place.Line, Column: place.Column}
	return &hcl.Range{Filename: place.File, Start: at, End: at}
}

// PlaceOf returns where a range begins.
func PlaceOf(r hcl.Range) order.Place {
	return order.Place{File: r.Filename, Line: r.Start.Line, Column: r.Start.Column}
}

// PlaceAt does the same where there may be none: nil is nowhere.
func PlaceAt(r *hcl.Range) order.Place {
	if r == nil {
		return order.Place{}
	}
	return PlaceOf(*r)
}

func upperFirst(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}
