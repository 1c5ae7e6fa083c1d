// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/views/jsonview"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
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
				return s.finish(s.validate(ctx))
			}
			return s.validateInSteps(ctx)
		},
	}
}

// reportValidation shows diagnostics as the document that "validate -json" writes.
func (s *session) reportValidation() {
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
func (s *session) validateInSteps(ctx context.Context) (int, error) {
	config, diags := s.stack().Config()
	if config == nil || len(config.Files) == 0 {
		return s.finish(diags)
	}
	_, engineErr := s.stack().Engine(ctx)
	if unsupported := s.stack().UnsupportedModules(ctx, config); unsupported.HasErrors() {
		return s.finish(unsupported)
	}
	diags = diags.Extend(s.stack().CheckSources(ctx, config))
	if err := s.report(diags); err != nil {
		return 0, err
	}
	var moreDiags hcl.Diagnostics
	if engineErr != nil {
		moreDiags = asDiagnostics(engineErr)
	} else {
		s.duringWork("Checking modules", func() { moreDiags = s.checkWithEngine(ctx, config) })
	}
	moreDiags = withoutReported(moreDiags, diags)
	status, err := s.finish(moreDiags)
	if diags.HasErrors() {
		status = exitError
	}
	if err == nil && status == exitOK {
		s.say("%s\n", validMessage(diags.Extend(moreDiags)))
	}
	return status, err
}

// checkWithEngine finds the mistakes of a configuration with the engine and providers, if those can be installed.
func (s *session) checkWithEngine(ctx context.Context, config *stackconfig.Config) hcl.Diagnostics {
	opts, diags := s.stack().Prepare(ctx, config, false)
	if diags.HasErrors() {
		return diags
	}
	return diags.Extend(stackruntime.Validate(ctx, opts))
}

// withoutReported returns the diagnostics that are not among those that were reported.
func withoutReported(diags, reported hcl.Diagnostics) hcl.Diagnostics {
	type identity struct {
		severity        hcl.DiagnosticSeverity
		summary, detail string
		subject         hcl.Range
	}
	identify := func(diag *hcl.Diagnostic) identity {
		id := identity{severity: diag.Severity, summary: diag.Summary, detail: diag.Detail}
		if diag.Subject != nil {
			id.subject = *diag.Subject
		}
		return id
	}
	known := map[identity]bool{}
	for _, diag := range reported {
		known[identify(diag)] = true
	}
	return slices.DeleteFunc(slices.Clone(diags), func(diag *hcl.Diagnostic) bool { return known[identify(diag)] })
}

// validate finds the mistakes of the configuration.
func (s *session) validate(ctx context.Context) hcl.Diagnostics {
	opts, diags := s.stack().Load(ctx)
	if diags.HasErrors() {
		return diags
	}
	return diags.Extend(stackruntime.Validate(ctx, opts))
}
