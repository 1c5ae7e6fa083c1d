// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"io"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/views/diagnostictext"
)

// WriteDiagnostics writes diagnostics for a person, sorted and each once.
func WriteDiagnostics(w io.Writer, diags hcl.Diagnostics, sources diagnostic.Sources, options Options) error {
	return diagnostictext.Write(w, diagnostic.All(diags, sources), diagnostictext.Options{
		Style: options.style(), Width: options.width(), CompactWarnings: options.CompactWarnings,
	})
}
