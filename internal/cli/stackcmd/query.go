// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// QueryCommand returns the command that finds existing objects.
func QueryCommand() *session.Command {
	var values variableFlags
	var generate cmdline.File
	return &session.Command{
		Name:    "query",
		Args:    "COMPONENT",
		Summary: "Finds existing objects that a component could import.",
		Long: `
Asks the providers of the component for the objects that the list blocks describe. These are in files of its module
whose names end with .tfquery.hcl or .tfquery.json, and which no other command reads. Nothing is planned or changed.`,
		Example: "cairn query component.network\ncairn query 'stack.eu.component.app[\"a\"]'\ncairn query -json component.network" +
			"\ncairn query -generate-config-out=network/imported.tf component.network",
		MinArgs: 1, MaxArgs: 1,
		Flags: func(f *session.Flags) {
			values.register(f)
			f.Var(&generate, "generate-config-out", "write resource and import blocks for the objects to this new `FILE`")
			session.JSONFlag(f, "write a JSON document")
			session.StateFlags(f)
			session.ProviderFlags(f)
		},
		Interruptible: true,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ReportDocuments()
			addr, err := stackaddrs.ParseAbsComponentInstance(args[0])
			if err != nil {
				return 0, failure.Error("Invalid component address",
					"A query needs the address of a component, like component.x or stack.a.component.x[\"key\"], and not %q.", args[0])
			}
			caller := operation.Caller{}
			if values.input && !s.Options.JSON && s.InputIsTerminal() {
				caller.Value = s.AskValue
			}
			ctx, stop := s.Interruptible(ctx, session.LooksOnly)
			defer stop()
			req := operation.QueryRequest{Component: addr, Variables: values.arguments, Generate: string(generate)}
			queried, diags := s.Stack().Query(ctx, req, caller)
			if err := showQuery(s, req, queried, diags); err != nil {
				return 0, err
			}
			return s.Finish(diags)
		},
	}
}

// showQuery shows the objects that were found. With errors, there is no document.
func showQuery(s *session.Session, req operation.QueryRequest, queried operation.Queried, diags hcl.Diagnostics) error {
	switch {
	case queried.QueryResult == nil || s.Options.JSON && diags.HasErrors():
		return nil
	case s.Options.JSON:
		s.ReportText()
		return document.WriteDocument(s.Streams.Out, document.NewQuery(req.Component, queried.QueryResult), true)
	}
	if err := views.WriteQuery(s.Streams.Out, queried.QueryResult); err != nil {
		return err
	}
	if queried.Generated {
		s.Say("\nBlocks for them are in %s. Move these into the directory of the component's module, review them, and plan.\n", req.Generate)
	}
	return nil
}
