// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
	"github.com/cairnstacks/cairn/internal/views/markdown"
)

// ShowCommand returns the command that shows the state or a plan file.
func ShowCommand() *session.Command {
	var concise bool
	var format string
	return &session.Command{
		Name:    "show",
		Args:    "[PLAN…]",
		Summary: "Shows the state, or a saved plan.",
		Long:    "With -json, sensitive values are part of the document.",
		Example: "cairn show\ncairn show stack.plan\ncairn show -json stack.plan\ncairn show -format=markdown network.plan app.plan",
		MaxArgs: 1000,
		Flags: func(f *session.Flags) {
			session.JSONFlag(f, "write a JSON document")
			f.BoolVar(&concise, "concise", false, "of a plan, leave out lines for what is unchanged")
			format = ""
			f.StringVar(&format, "format", "", "write plans as `FORMAT`: markdown, a table with folded details and no values, of one or several")
			session.StateFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ReportDocuments()
			switch {
			case format != "" && format != "markdown":
				return 0, failure.Error("Unknown format", "There is no format %q: the only one is markdown.", format)
			case format != "" && (len(args) == 0 || s.Options.JSON):
				return 0, failure.Error("Conflicting options", "The option -format is for saved plans, and not together with -json. Name plans, or leave it out.")
			case format != "":
				return cmdline.ExitOK, showMarkdown(s, args)
			case len(args) > 1:
				return 0, failure.Error("Too many arguments", "Only with -format=markdown several plans can be shown together.")
			}
			if len(args) == 1 {
				return cmdline.ExitOK, showPlan(ctx, s, args[0], concise)
			}
			stored, err := s.Stack().ReadState(ctx)
			if err != nil {
				return 0, err
			}
			if s.Options.JSON {
				return cmdline.ExitOK, writeStateDocument(s, stored)
			}
			return cmdline.ExitOK, views.WriteState(s.Streams.Out, stored.State, s.ViewOptions(s.Streams.Out))
		},
	}
}

// showMarkdown writes one document about some plans, each by the name of its stack, or of its file without one.
func showMarkdown(s *session.Session, paths []string) error {
	var units []markdown.Unit
	for _, path := range paths {
		plan, made, err := planfile.Read(path)
		if err != nil {
			return err
		}
		name := cmp.Or(made.Stack, strings.TrimSuffix(filepath.Base(path), ".plan"))
		if made.Deployment != "" && made.Deployment != deployment.Default {
			name += " (" + made.Deployment + ")"
		}
		units = append(units, markdown.Summarize(name, plan))
	}
	_, err := s.Streams.Out.Write(markdown.Write("Plan", units))
	return err
}

func showPlan(ctx context.Context, s *session.Session, path string, concise bool) error {
	plan, made, err := planfile.Read(path)
	if err != nil {
		return err
	}
	if !s.Options.JSON {
		options := s.ViewOptions(s.Streams.Out)
		options.Concise = concise
		return views.WritePlan(s.Streams.Out, plan, options)
	}
	options := jsonview.PlanOptions{CairnVersion: made.CairnVersion, Prior: s.Stack().PriorState(ctx, made)}
	return jsonview.WriteDocument(s.Streams.Out, jsonview.NewPlan(plan, options), true)
}

func writeStateDocument(s *session.Session, stored *deployment.Stored) error {
	document, err := jsonview.NewState(stored.State, jsonview.Version{Serial: uint64(stored.Serial), Lineage: stored.Lineage})
	if err != nil {
		return err
	}
	return jsonview.WriteDocument(s.Streams.Out, document, true)
}
