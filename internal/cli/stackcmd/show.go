// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
)

// ShowCommand returns the command that shows the state or a plan file.
func ShowCommand() *session.Command {
	var concise bool
	return &session.Command{
		Name:    "show",
		Args:    "[PLAN]",
		Summary: "Shows the state, or a saved plan.",
		Long:    "With -json, sensitive values are part of the document.",
		Example: "cairn show\ncairn show stack.plan\ncairn show -json stack.plan",
		MaxArgs: 1,
		Flags: func(f *session.Flags) {
			session.JSONFlag(f, "write a JSON document")
			f.BoolVar(&concise, "concise", false, "of a plan, leave out lines for what is unchanged")
			session.StateFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ReportDocuments()
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
