// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/views/diagnostic"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
)

func showCommand() *command {
	var concise bool
	return &command{
		Name:    "show",
		Args:    "[PLAN]",
		Summary: "Shows the state, or a saved plan.",
		Long:    "With -json, sensitive values are part of the document.",
		Example: "cairn show\ncairn show stack.plan\ncairn show -json stack.plan",
		MaxArgs: 1,
		Flags: func(f *flagSet) {
			jsonFlag(f, "write a JSON document")
			f.BoolVar(&concise, "concise", false, "of a plan, leave out lines for what is unchanged")
			stateFlags(f)
		},
		Run: func(ctx context.Context, s *session, args []string) (int, error) {
			s.reportDocuments()
			if len(args) == 1 {
				return cmdline.ExitOK, showPlan(ctx, s, args[0], concise)
			}
			stored, err := s.stack().ReadState(ctx)
			if err != nil {
				return 0, err
			}
			if s.options.json {
				return cmdline.ExitOK, writeStateDocument(s, stored)
			}
			return cmdline.ExitOK, views.WriteState(s.streams.Out, stored.State, s.viewOptions(s.streams.Out))
		},
	}
}

func showPlan(ctx context.Context, s *session, path string, concise bool) error {
	plan, made, err := planfile.Read(path)
	if err != nil {
		return err
	}
	if !s.options.json {
		options := s.viewOptions(s.streams.Out)
		options.Concise = concise
		return views.WritePlan(s.streams.Out, plan, options)
	}
	options := jsonview.PlanOptions{CairnVersion: made.CairnVersion}
	// The state that the plan was made with tells what the outputs of components were. It may have moved on.
	if stored, err := s.stack().ReadState(ctx); err == nil && stored.Lineage == made.StateLineage && uint64(stored.Serial) == made.StateSerial {
		options.Prior = stored.State
	}
	return jsonview.WriteDocument(s.streams.Out, jsonview.NewPlan(plan, options), true)
}

func writeStateDocument(s *session, stored *deployment.Stored) error {
	document, err := jsonview.NewState(stored.State, jsonview.Version{Serial: uint64(stored.Serial), Lineage: stored.Lineage})
	if err != nil {
		return err
	}
	return jsonview.WriteDocument(s.streams.Out, document, true)
}

// failureDocument takes the place of a document that can't be written.
type failureDocument struct {
	FormatVersion string                  `json:"format_version"`
	Diagnostics   []diagnostic.Diagnostic `json:"diagnostics"`
}
