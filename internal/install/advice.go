// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package install

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// advise adds the remedy for an error of an installation to a diagnostic. The requirement is
// written at where.
func advise(diag *hcl.Diagnostic, err error, where string) {
	if _, ok := errors.AsType[*selection.LockedError](err); ok {
		diag.Detail += fmt.Sprintf("\n\nChange the version that is required %s, or have another one chosen than %s has.", where, locks.FileName)
		diag.Extra = &engine.DiagnosticData{Fault: fault.LockedVersionRejected}
		return
	}
	if _, ok := errors.AsType[*selection.UnmetError](err); ok {
		diag.Detail += fmt.Sprintf("\n\nChange the version that is required %s.", where)
		return
	}
	mismatch, ok := errors.AsType[*source.MismatchError](err)
	switch {
	case ok && mismatch.Locked:
		diag.Detail += fmt.Sprintf("\n\nIf you expect this package from where it comes, add its checksum to %s.", locks.FileName)
		diag.Extra = &engine.DiagnosticData{Fault: fault.PackageNotLocked}
	case errors.As(err, new(*fs.PathError)): // which has its own remedy
	case ok:
		diag.Detail += "\n\nThe registry or mirror contradicts itself, or its answers are changed on their way: take the package from another " +
			"one by your CLI configuration."
	default:
		diag.Detail += fmt.Sprintf("\n\nCheck the source and the version %s, and that the registry or mirror can be reached with your CLI "+
			"configuration.", where)
	}
}
