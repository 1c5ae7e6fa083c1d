// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/views/markdown"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// ShowCommand returns the command that shows the state or a plan file.
func ShowCommand() *session.Command {
	var concise, asTimeline bool
	var format, out string
	var inMarkdown MarkdownFlags
	return &session.Command{
		Name:    "show",
		Args:    "[PLAN…] [COMPONENT]",
		Summary: "Shows the state, a saved plan, or a run.",
		Long: `
A plan is a file that "cairn plan -out=FILE" has saved, a plan of a root module by terraform or
tofu, a directory of plans that "cairn run plan -out=DIR" has saved, or run:ID for those that
"cairn run plan -out=run:" has kept with a run on workers. Of root modules with providers, values
are not shown: only their providers know which of them are sensitive.

With -timeline, the argument is a report that "cairn run -report=FILE.json" has written. It is drawn
along the time, with the critical path, as a picture in SVG.

With -json, sensitive values are part of the document.

With -format=terraform-plan, the plan of one component is written as "terraform show -json" writes
that of a root module, for scanners and policies that know nothing of stacks. Name the component if
there are several, or write the documents of all into a directory with -out. Sensitive values are
part of them.`,
		Example: "cairn show\ncairn show stack.plan\ncairn show -json stack.plan\ncairn show plans\n" +
			"cairn show -format=markdown network.plan app.plan\n" +
			"cairn show -format=terraform-plan stack.plan component.network\ncairn show -format=terraform-plan -out=documents plans\n" +
			"cairn show -timeline run.json > run.svg",
		MaxArgs: 1000,
		Flags: func(f *session.Flags) {
			session.JSONFlag(f, "write a JSON document")
			f.BoolVar(&concise, "concise", false, "of a plan, leave out lines for unchanged objects")
			format = ""
			f.StringVar(&format, "format", "", "write plans as `markdown|terraform-plan`: a table with folded details and no values, of one or "+
				"several; or terraform's own JSON document, of one component")
			out = ""
			f.StringVar(&out, "out", "", "with -format=terraform-plan, write the documents of all components into `DIR`, which is new or empty")
			f.BoolVar(&asTimeline, "timeline", false, "draw a report of a run as SVG")
			inMarkdown.Add(f)
			session.StateFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ReportDocuments()
			if asTimeline {
				return cmdline.ExitOK, showTimeline(s, args, format)
			}
			if err := checkFormat(format, out, args, s.Options.JSON); err != nil {
				return 0, err
			}
			switch {
			case format == formatMarkdown:
				return cmdline.ExitOK, showMarkdown(ctx, s, args, inMarkdown)
			case format == formatTerraform && out != "":
				return cmdline.ExitOK, writeTerraform(ctx, s, args, out)
			case format == formatTerraform:
				return cmdline.ExitOK, showTerraform(ctx, s, args)
			case len(args) > 1:
				return 0, failure.Error("Too many arguments", "Only with -format several plans can be shown together.")
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

// The formats of plans besides text and JSON.
const (
	formatMarkdown  = "markdown"
	formatTerraform = "terraform-plan"
)

// checkFormat refuses options and arguments that do not go together.
func checkFormat(format, out string, args []string, json bool) error {
	switch {
	case format != "" && format != formatMarkdown && format != formatTerraform:
		return failure.Error("Unknown format", "There is no format %q.%s The formats are markdown and terraform-plan.", format,
			nearest.DidYouMean(format, []string{formatMarkdown, formatTerraform}))
	case format != "" && (len(args) == 0 || json):
		return failure.Error("Conflicting options",
			"The option -format is for saved plans, and not together with -json. Name plans, or leave it out.")
	case out != "" && format != formatTerraform:
		return failure.Error("Conflicting options", "The option -out is for -format=terraform-plan.")
	case format == formatTerraform && out == "" && len(args) > 2:
		return failure.Error("Too many arguments", "The format terraform-plan is for one component of one plan or set. Write the documents of "+
			"several with -out=DIR.")
	}
	return nil
}

// showMarkdown writes one document about some plans, each by the name of its stack, or of its file
// without one.
func showMarkdown(ctx context.Context, s *session.Session, paths []string, flags MarkdownFlags) error {
	options, err := flags.Options("Plan")
	if err != nil {
		return err
	}
	var units []markdown.Unit
	for _, path := range paths {
		plans, _, err := readPlans(ctx, s, path)
		if err != nil {
			return err
		}
		for _, plan := range plans {
			units = append(units, markdown.Summarize(plan.Name, plan.Plan.Plan))
		}
	}
	_, err = s.Streams.Out.Write(markdown.Write(options, units))
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
		if plan := plans[0]; !plan.IsRoot {
			prior = s.Stack().States().Prior(ctx, plan.Made)
		}
		return document.WriteDocument(s.Streams.Out, plans[0].document(prior), true)
	}
	if id := plans[0].id(); id != "" {
		s.Print("Plan %s\n\n", id)
	}
	return plans[0].write(s, options)
}

func writeStateDocument(s *session.Session, stored *deployment.Stored) error {
	doc, err := document.NewState(stored.State, document.Version{Serial: uint64(stored.Serial), Lineage: stored.Lineage})
	if err != nil {
		return err
	}
	return document.WriteDocument(s.Streams.Out, doc, true)
}
