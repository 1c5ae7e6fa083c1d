// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
)

func validateCommand() *command {
	return &command{
		Name:    "validate",
		Summary: "Checks the configuration without values, state and credentials.",
		Long:    "Reports all mistakes that can be found in one run.",
		Example: "cairn validate\ncairn validate -json",
		Flags: func(f *flagSet) {
			providerFlags(f)
			jsonFlag(f, "write the result as a JSON document")
		},
		Run: func(ctx context.Context, s *session, _ []string) (int, error) {
			s.changesNothing = true
			ctx, stop := s.interruptible(ctx, func() string { return "Nothing will be lost." })
			defer stop()
			if s.options.json {
				reportValidation(s)
				return s.finish(s.stack().Validate(ctx))
			}
			return validateInSteps(ctx, s)
		},
	}
}

// reportValidation shows diagnostics as the document that "validate -json" writes.
func reportValidation(s *session) {
	s.reporter = func(diags hcl.Diagnostics) error {
		return jsonview.WriteDocument(s.streams.Out, jsonview.NewValidation(diags, s.sources()), true)
	}
}

func validMessage(diags hcl.Diagnostics) string {
	if len(diags) > 0 {
		return "The configuration is valid, but there are warnings."
	}
	return "The configuration is valid."
}

// validateInSteps reports what shows at once before it goes on with what takes time.
func validateInSteps(ctx context.Context, s *session) (int, error) {
	var err error
	diags := s.stack().ValidateInSteps(ctx, operation.ValidateSteps{
		Found:  func(found hcl.Diagnostics) { err = errors.Join(err, s.report(found)) },
		During: func(work func()) { s.duringWork("Checking modules", work) },
	})
	switch {
	case err != nil:
		return 0, err
	case diags.HasErrors():
		return cmdline.ExitError, nil
	}
	s.say("%s\n", validMessage(diags))
	return cmdline.ExitOK, nil
}
