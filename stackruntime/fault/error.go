// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fault

import (
	"errors"

	"github.com/hashicorp/hcl/v2"
)

// Named is a Code with the names that a remedy needs: of files, addresses or versions, each kind of
// fault in its own order. It stands in the place of the code.
type Named struct {
	Code  Code
	Names []string
	Inner any // the Extra that an engine has given the diagnostic, or nil
}

var _ hcl.DiagnosticExtraUnwrapper = Named{}

// UnwrapDiagnosticExtra implements [hcl.DiagnosticExtraUnwrapper].
func (n Named) UnwrapDiagnosticExtra() any {
	if n.Inner != nil {
		return n.Inner
	}
	return n.Code
}

// Error returns an error with the text of err, which it wraps, and a fault.
func Error(err error, code Code, names ...string) error {
	return &coded{err, Named{Code: code, Names: names}}
}

type coded struct {
	error
	fault Named
}

func (e *coded) Unwrap() error { return e.error }

// Fault is the method of errors with a fault, as OfError finds it.
func (e *coded) Fault() Named { return e.fault }

// OfError returns the fault of an error, as the Extra of the diagnostic that is made from it. It is
// nil for an error without one.
func OfError(err error) any {
	if faulty, ok := errors.AsType[interface {
		error
		Fault() Named
	}](err); ok {
		return faulty.Fault()
	}
	return nil
}
