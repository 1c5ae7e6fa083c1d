// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/show/timeline"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/views/markdown"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// ShowCommand returns the command that shows the state or a plan file.
func ShowCommand() *session.Command {
	var concise, asTimeline bool
	var format string
	return &session.Command{
		Name:    "show",
		Args:    "[PLAN…]",
		Summary: "Shows the state, a saved plan, or a run.",
		Long: `
A plan is a file that "cairn plan -out=FILE" has saved, a plan of a root module by terraform or
tofu, or a directory of plans that "cairn run plan -out=DIR" has saved. Of root modules with
providers, values are not shown: only their providers know which of them are sensitive.

With -timeline, the argument is a report that "cairn run -report=FILE.json" has written. It is drawn
along the time, with the critical path, as a picture in SVG.

With -json, sensitive values are part of the document.`,
		Example: "cairn show\ncairn show stack.plan\ncairn show -json stack.plan\ncairn show plans\n" +
			"cairn show -format=markdown network.plan app.plan\ncairn show -timeline run.json > run.svg",
		MaxArgs: 1000,
		Flags: func(f *session.Flags) {
			session.JSONFlag(f, "write a JSON document")
			f.BoolVar(&concise, "concise", false, "of a plan, leave out lines for unchanged objects")
			format = ""
			f.StringVar(&format, "format", "", "write plans as `FORMAT`: markdown, a table with folded details and no values, of one or several")
			f.BoolVar(&asTimeline, "timeline", false, "draw a report of a run as SVG")
			session.StateFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ReportDocuments()
			if err := checkShow(s, args, format, asTimeline); err != nil {
				return 0, err
			}
			switch {
			case asTimeline:
				return cmdline.ExitOK, showTimeline(s, args[0])
			case format != "":
				return cmdline.ExitOK, showMarkdown(ctx, s, args)
			}
			if len(args) == 1 {
				return cmdline.ExitOK, showPlan(ctx, s, args[0], concise)
			}
			stored, err := s.Stack().States().ReadToShow(ctx)
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

// checkShow finds the mistakes in options and arguments that do not go together.
func checkShow(s *session.Session, args []string, format string, asTimeline bool) error {
	switch {
	case asTimeline && (format != "" || s.Options.JSON || len(args) != 1):
		return failure.Error("Conflicting options",
			"With -timeline, the only argument is a report of \"cairn run\", and there is neither -format nor -json.")
	case asTimeline:
		return nil
	case format != "" && format != "markdown":
		return failure.Error("Unknown format", "There is no format %q: the only one is markdown.", format)
	case format != "" && (len(args) == 0 || s.Options.JSON):
		return failure.Error("Conflicting options",
			"The option -format is for saved plans, and not together with -json. Name plans, or leave it out.")
	case format == "" && len(args) > 1:
		return failure.Error("Too many arguments", "Only with -format=markdown several plans can be shown together.")
	}
	return nil
}

// showMarkdown writes one document about some plans, each by the name of its stack, or of its file
// without one.
func showMarkdown(ctx context.Context, s *session.Session, paths []string) error {
	var units []markdown.Unit
	for _, path := range paths {
		plans, _, err := readPlans(ctx, s, path)
		if err != nil {
			return err
		}
		for _, plan := range plans {
			units = append(units, markdown.Summarize(plan.name, plan.Plan))
		}
	}
	_, err := s.Streams.Out.Write(markdown.Write("Plan", units))
	return err
}

func showPlan(ctx context.Context, s *session.Session, path string, concise bool) error {
	plans, set, err := readPlans(ctx, s, path)
	if err != nil {
		return err
	}
	options := s.ViewOptions(s.Streams.Out)
	options.Concise = concise
	switch {
	case set != nil && s.Options.JSON:
		return writeSetDocument(s, set, plans)
	case set != nil:
		return writeSet(s, plans, options)
	case s.Options.JSON:
		var prior *stackstate.State
		if plan := plans[0]; !plan.isRoot {
			prior = s.Stack().States().Prior(ctx, plan.made)
		}
		return document.WriteDocument(s.Streams.Out, plans[0].document(prior), true)
	}
	return plans[0].write(s, options)
}

// showTimeline draws a report of a run.
func showTimeline(s *session.Session, path string) error {
	report, err := safefile.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), timeline.MaxReport)
	if err != nil {
		return failure.Error("Unreadable report", "The report %s cannot be read: %s.", path, safefile.Reason(err))
	}
	run, err := timeline.Read(report)
	if err != nil {
		return failure.Error("Unreadable report", "The report %s cannot be shown: %s.", path, err)
	}
	_, err = io.WriteString(s.Streams.Out, run.SVG())
	return err
}

func writeStateDocument(s *session.Session, stored *deployment.Stored) error {
	doc, err := document.NewState(stored.State, document.Version{Serial: uint64(stored.Serial), Lineage: stored.Lineage})
	if err != nil {
		return err
	}
	return document.WriteDocument(s.Streams.Out, doc, true)
}
