// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/document/sarif"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/env"
)

// ValidateCommand returns the command that validates the configuration.
func ValidateCommand() *session.Command {
	var format string
	return &session.Command{
		Name:    "validate",
		Summary: "Checks the configuration without values, state and credentials.",
		Long: "Reports all mistakes that can be found in one run. With -format=sarif, files are named as from the root of the\n" +
			"repository.",
		Example: "cairn validate\ncairn validate -json\ncairn validate -format=sarif > cairn.sarif",
		Flags: func(f *session.Flags) {
			session.ProviderFlags(f)
			session.JSONFlag(f, "write the result as a JSON document")
			f.StringVar(&format, "format", "text", "write the result as `text|sarif`, for people or for code scanning (default: text)")
		},
		Interruptible: true,
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			s.ChangesNothing = true
			ctx, stop := s.Interruptible(ctx, session.LooksOnly)
			defer stop()
			switch {
			case format != "text" && format != "sarif":
				return 0, failure.Error("Unknown format", "There is no format %q: the formats are text and sarif.", format)
			case format == "sarif" && s.Options.JSON:
				return 0, failure.Error("Conflicting options", "The options -format and -json exclude each other.")
			case format == "sarif":
				reportSARIF(s)
				return s.Finish(s.Stack().Validate(ctx))
			case s.Options.JSON:
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

// reportSARIF shows diagnostics as a log for code scanning.
func reportSARIF(s *session.Session) {
	dir := ""
	if root, at := s.Stack().Env().WorkspaceDir(), env.Absolute(s.Stack().Env().Dir); root != "" {
		if within, err := filepath.Rel(root, at); err == nil {
			dir = filepath.ToSlash(within)
		}
	}
	s.Reporter = func(diags hcl.Diagnostics) error {
		log := sarif.New(diags, sarif.Options{Version: session.Version(), Dir: dir, Sources: s.Sources()})
		return document.WriteDocument(s.Streams.Out, log, true)
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
