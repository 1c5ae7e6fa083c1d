// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fault

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Address is the Extra of a diagnostic about one component instance.
type Address struct {
	Component stackaddrs.AbsComponentInstance
	Inner     any // the Extra that the engine has given the diagnostic, or nil
}

var _ hcl.DiagnosticExtraUnwrapper = Address{}

// Address returns the address as text.
func (a Address) Address() string { return a.Component.String() }

// UnwrapDiagnosticExtra implements [hcl.DiagnosticExtraUnwrapper].
func (a Address) UnwrapDiagnosticExtra() any { return a.Inner }

// NotSaved is the Extra of the diagnostic about a change of the state that could not be saved. The
// program that saves may know more about the reason.
type NotSaved struct{ Err error }
