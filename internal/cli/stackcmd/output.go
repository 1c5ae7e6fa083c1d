// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// OutputCommand returns the command that shows output values.
func OutputCommand() *session.Command {
	var raw bool
	return &session.Command{
		Name:    "output",
		Args:    "[NAME]",
		Summary: "Shows the outputs of the last apply.",
		Long:    "Sensitive outputs are hidden, unless one is asked for by its name, or with -json.",
		Example: "cairn output\ncairn output -raw address\ncairn output -json",
		MaxArgs: 1,
		Flags: func(f *session.Flags) {
			f.BoolVar(&raw, "raw", false, "write the bare text of one output, for scripts")
			session.JSONFlag(f, "write a JSON document")
			session.StateFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ReportDocuments()
			switch {
			case raw && s.Options.JSON:
				return 0, failure.Error("Conflicting options", "Give only one of -raw and -json.")
			case raw && len(args) == 0:
				return 0, failure.Error("Missing argument", "The option -raw is for one output: cairn output -raw NAME.")
			}
			if len(args) == 1 {
				return cmdline.ExitOK, writeOutput(ctx, s, args[0], raw)
			}
			outputs, err := s.Stack().States().Outputs(ctx)
			if err != nil {
				return 0, err
			}
			if s.Options.JSON {
				return cmdline.ExitOK, document.WriteDocument(s.Streams.Out, document.NewOutputs(outputs), true)
			}
			return cmdline.ExitOK, views.WriteOutputs(s.Streams.Out, outputs, s.ViewOptions(s.Streams.Out))
		},
	}
}

func writeOutput(ctx context.Context, s *session.Session, name string, raw bool) error {
	value, err := s.Stack().States().Output(ctx, name)
	if err != nil {
		return err
	}
	bare, _ := value.UnmarkDeep()
	switch {
	case (s.Options.JSON || raw) && !bare.IsWhollyKnown():
		return failure.Error("Output not known yet",
			"The value of output %q is not known, or not all of it, since the last apply failed or deferred something that it depends on. "+
				"Apply again. \"cairn output -json\" shows the known parts.", name)
	case s.Options.JSON:
		return document.WriteDocument(s.Streams.Out, document.NewOutput(value), true)
	case raw:
		text, err := views.RawOutput(value)
		if err != nil {
			return failure.Error("Unsupported value for raw output",
				"The output %q cannot be written with -raw: %s. Use -json.", name, err)
		}
		s.Print("%s", text)
		return nil
	}
	// A user who asks for one output wants to see it.
	return views.WriteOutput(s.Streams.Out, marks.Remove(value, marks.Sensitive))
}
