// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// Severity is how bad something is.
type Severity uint8

// The severities. A diagnostic that has none is an error.
const (
	Error Severity = iota
	Warning
)

// Diagnostic is a problem that a provider has found, or that was had with it.
type Diagnostic struct {
	Severity        Severity
	Summary, Detail string

	// Path is the place in the value that the call was about, as far as it is known; empty for the
	// whole.
	Path cty.Path

	Cause error // with the text of the detail; nil for the provider's own
}

// Diagnostics are the problems of one call, in the order in which the provider gave them.
type Diagnostics []Diagnostic

// HasErrors reports whether there is an error among them.
func (d Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(d, func(one Diagnostic) bool { return one.Severity == Error })
}

// Err returns the first error, nil if there is none.
func (d Diagnostics) Err() error {
	i := slices.IndexFunc(d, func(one Diagnostic) bool { return one.Severity == Error })
	switch {
	case i < 0:
		return nil
	case d[i].Cause != nil:
		return fmt.Errorf("%s: %w", d[i].Summary, d[i].Cause)
	default:
		return fmt.Errorf("%s: %s", d[i].Summary, d[i].Detail)
	}
}

// Errorf returns one error about the whole value. An error among the arguments for a verb %w is
// wrapped by that of [Diagnostics.Err].
func Errorf(summary, detail string, args ...any) Diagnostics {
	err := fmt.Errorf(detail, args...)
	return Diagnostics{{Summary: summary, Detail: err.Error(), Cause: err}}
}

// DeferredReason is why a provider has put something off.
type DeferredReason uint8

// The reasons. The zero value stands for an answer that is not deferred.
const (
	NotDeferred DeferredReason = iota
	DeferredUnknownReason
	DeferredResourceConfigUnknown
	DeferredProviderConfigUnknown
	DeferredAbsentPrerequisite
)

var deferredReasons = [...]string{
	"", "unknown", "resource_config_unknown", "provider_config_unknown", "absent_prereq",
}

// String returns the name of the reason as terraform's JSON output has it, empty if nothing is
// deferred.
func (r DeferredReason) String() string {
	if int(r) < len(deferredReasons) {
		return deferredReasons[r]
	}
	return deferredReasons[DeferredUnknownReason]
}
