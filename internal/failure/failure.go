// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package failure makes diagnostics: of failures outside of the configuration, in files, in the
// environment, in requests, and of mistakes at a place in it.
//
// A summary is fixed text of two to six words; the detail is whole sentences with the fault, the
// work that was done, and the remedy. Details name no option of a command line: callers of
// different kinds show them, and each may add help for its own users, by the
// [fault.Code] of the diagnostic.
package failure

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// New returns an error diagnostic without a place.
func New(summary, detail string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...)}
}

// Warning is [New] with less severity.
func Warning(summary, detail string, args ...any) *hcl.Diagnostic {
	diag := New(summary, detail, args...)
	diag.Severity = hcl.DiagWarning
	return diag
}

// At returns an error diagnostic about a place in the configuration.
func At(place hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	diag := New(summary, detail, args...)
	diag.Subject = &place
	return diag
}

// WarningAt is [At] with less severity.
func WarningAt(place hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	diag := At(place, summary, detail, args...)
	diag.Severity = hcl.DiagWarning
	return diag
}

// Error returns an error that [Diagnostics] turns back into the diagnostic of [New].
func Error(summary, detail string, args ...any) error {
	return hcl.Diagnostics{New(summary, detail, args...)}
}

// Of returns an error, such as one of the operating system, as a diagnostic whose detail is the
// text of the error as a whole sentence, and which has its fault (see [fault.OfError]).
func Of(summary string, err error) *hcl.Diagnostic {
	diag := New(summary, "%s", Sentence(err.Error()))
	diag.Extra = fault.OfError(err)
	return diag
}

// With sets the Extra of a diagnostic, such as its [fault.Code], and returns it.
func With(extra any, diag *hcl.Diagnostic) *hcl.Diagnostic {
	diag.Extra = extra
	return diag
}

// Diagnostics returns an error as diagnostics: those that it holds, else one. There are none for
// nil.
func Diagnostics(err error) hcl.Diagnostics {
	var diags hcl.Diagnostics
	switch {
	case err == nil:
		return nil
	case errors.As(err, &diags):
		return diags
	}
	return hcl.Diagnostics{New("Command failed", "%s.", Capitalize(Reason(err)))}
}

// AsError returns diagnostics as an error if there are errors among them, else nil.
func AsError(diags hcl.Diagnostics) error {
	if diags.HasErrors() {
		return diags
	}
	return nil
}

// Reason returns the text of an error of the operating system, without the names of calls.
func Reason(err error) string {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Sprintf("%s: %s", pathError.Path, pathError.Err)
	}
	return strings.TrimSuffix(err.Error(), ".")
}

// Capitalize begins a sentence. A word before a colon is a name, such as that of a file, and stays
// as it is.
func Capitalize(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if text == "" || strings.HasSuffix(first, ":") || strings.ContainsAny(first, `./\`) {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// Sentences makes sentences of the clauses of an error.
func Sentences(text string) string {
	var b strings.Builder
	for i, clause := range strings.Split(text, "; ") {
		if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(Capitalize(clause) + ".")
	}
	return b.String()
}

// Sentence makes a whole sentence of an error's text, which may end with a sentence already.
func Sentence(text string) string {
	if text == "" {
		return text
	}
	if first := text[0]; first >= 'a' && first <= 'z' {
		text = string(first-'a'+'A') + text[1:]
	}
	if last := text[len(text)-1]; last != '.' && last != '\n' {
		text += "."
	}
	return text
}

// Cause is the Extra of a diagnostic that was made of an error, for callers that know the type of
// the error.
type Cause struct{ Err error }
