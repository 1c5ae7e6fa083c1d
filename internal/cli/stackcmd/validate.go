// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"
	"errors"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/operation"
)

// ValidateCommand returns the command that validates the configuration.
func ValidateCommand() *session.Command {
	return &session.Command{
		Name:    "validate",
		Summary: "Checks the configuration without values, state and credentials.",
		Long:    "Reports all mistakes that can be found in one run.",
		Example: "cairn validate\ncairn validate -json",
		Flags: func(f *session.Flags) {
			session.ProviderFlags(f)
			session.JSONFlag(f, "write the result as a JSON document")
		},
		Interruptible: true,
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			s.ChangesNothing = true
			ctx, stop := s.Interruptible(ctx, session.LooksOnly)
			defer stop()
			if s.Options.JSON {
				ReportValidation(s)
				return s.Finish(s.Stack().Validate(ctx))
			}
			return validateInSteps(ctx, s)
		},
	}
}

// ReportValidation shows diagnostics as the document that "validate -json" writes.
func ReportValidation(s *session.Session) {
	s.Reporter = func(diags hcl.Diagnostics) error {
		return document.WriteDocument(s.Streams.Out, document.NewValidation(diags, s.Sources()), true)
	}
}

func validMessage(diags hcl.Diagnostics) string {
	if len(diags) > 0 {
		return "The configuration is valid, but there are warnings."
	}
	return "The configuration is valid."
}

// validateInSteps reports the errors that are found at once before it goes on with checks that take
// time.
func validateInSteps(ctx context.Context, s *session.Session) (int, error) {
	var err error
	diags := s.Stack().ValidateInSteps(ctx, operation.ValidateSteps{
		Found:  func(found hcl.Diagnostics) { err = errors.Join(err, s.Report(found)) },
		During: func(work func()) { s.DuringWork("Checking modules", work) },
	})
	switch {
	case err != nil:
		return 0, err
	case diags.HasErrors():
		return cmdline.ExitError, nil
	}
	s.Say("%s\n", validMessage(diags))
	return cmdline.ExitOK, nil
}
