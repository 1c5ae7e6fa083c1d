// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/views/jsonview"
	"github.com/cairnstacks/cairn/stackruntime"
)

func validateCommand() *command {
	return &command{
		name:    "validate",
		summary: "Checks the configuration without values, state and credentials.",
		long:    "Reports all mistakes that can be found in one run.",
		example: "cairn validate\ncairn validate -json",
		flags: func(f *flagSet) {
			f.providerFlags()
			f.jsonFlag("write the result as a JSON document")
		},
		run: func(ctx context.Context, s *session, _ []string) (int, error) {
			s.changesNothing = true
			ctx, stop := s.interruptible(ctx, func() string { return "Nothing will be lost." })
			defer stop()
			if s.options.json {
				s.reportValidation()
			}
			diags := s.validate(ctx)
			status, err := s.finish(diags)
			if err == nil && status == exitOK && !s.options.json {
				s.say("%s\n", validMessage(diags))
			}
			return status, err
		},
	}
}

// reportValidation shows diagnostics as the document that "validate -json" writes.
func (s *session) reportValidation() {
	s.report = func(diags hcl.Diagnostics) error {
		return jsonview.WriteDocument(s.streams.Out, jsonview.NewValidation(diags, s.sources()), true)
	}
}

func validMessage(diags hcl.Diagnostics) string {
	if len(diags) > 0 {
		return "The configuration is valid, but there are warnings."
	}
	return "The configuration is valid."
}

// validate finds the mistakes of the configuration.
func (s *session) validate(ctx context.Context) hcl.Diagnostics {
	opts, diags := s.checkedOptions(ctx)
	if diags.HasErrors() {
		return diags
	}
	return diags.Extend(stackruntime.Validate(ctx, opts))
}
