// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// otherMistakes returns the mistakes in the configuration that a plan has not come to, if it ended with some. Where it ended with
// errors that are none, such as those of providers, there is nothing to say.
func (s *Stack) otherMistakes(ctx context.Context, opts stackruntime.Options, planned hcl.Diagnostics) hcl.Diagnostics {
	if !slices.ContainsFunc(planned, func(diag *hcl.Diagnostic) bool { return s.isMistake(ctx, opts, diag) }) {
		return nil
	}
	return slices.DeleteFunc(stackruntime.Validate(ctx, opts), func(diag *hcl.Diagnostic) bool {
		return diag.Severity != hcl.DiagError || slices.ContainsFunc(planned, func(known *hcl.Diagnostic) bool { return isSameMistake(known, diag) })
	})
}

// isMistake reports whether an error is about what is written in a module.
func (s *Stack) isMistake(ctx context.Context, opts stackruntime.Options, diag *hcl.Diagnostic) bool {
	if diag.Severity != hcl.DiagError || diag.Subject == nil {
		return false
	}
	if data, ok := hcl.DiagnosticExtra[*engine.DiagnosticData](diag); ok && data.Resource != "" {
		return false // it is about a resource, by its provider
	}
	path, inPackage := s.packagePath(diag.Subject.Filename)
	if !inPackage {
		path = filepath.Join(s.dir, filepath.FromSlash(diag.Subject.Filename))
	}
	return opts.Session.ValidateModule(ctx, filepath.Dir(path)).HasErrors()
}

// isSameMistake compares without details: while planning, they may reveal values.
func isSameMistake(a, b *hcl.Diagnostic) bool {
	return a.Summary == b.Summary && a.Subject != nil && b.Subject != nil && *a.Subject == *b.Subject
}
