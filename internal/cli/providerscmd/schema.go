// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providerscmd

import (
	"context"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
)

func schemaCommand() *session.Command {
	return &session.Command{
		Name:    "schema",
		Summary: "Writes the schemas of the providers of the stack, as terraform does it for a module.",
		Long: `
The document is that of "terraform providers schema -json", with all providers that the stack and its modules require.
Missing providers are installed, as init does it.`,
		Example: "cairn providers schema -json",
		Flags: func(f *session.Flags) {
			session.JSONFlag(f, "write the JSON document; there is no other form, so this option is required")
			session.ProviderFlags(f)
		},
		Interruptible: true,
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			if !s.Options.JSON {
				return 0, failure.Error("Missing option", "Schemas are for programs, and only written as JSON: give -json.")
			}
			s.ReportDocuments()
			s.ChangesNothing = true
			ctx, stop := s.Interruptible(ctx, session.LooksOnly)
			defer stop()
			schemas, diags := s.Stack().ProviderSchemas(ctx)
			if !diags.HasErrors() {
				s.Print("%s\n", schemas)
				s.ReportText()
			}
			return s.Finish(diags)
		},
	}
}
