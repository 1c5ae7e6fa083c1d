// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func outputCommand() *command {
	var raw bool
	return &command{
		Name:    "output",
		Args:    "[NAME]",
		Summary: "Shows the outputs of the last apply.",
		Long:    "Sensitive outputs are hidden, unless one is asked for by its name, or with -json.",
		Example: "cairn output\ncairn output -raw address\ncairn output -json",
		MaxArgs: 1,
		Flags: func(f *flagSet) {
			f.BoolVar(&raw, "raw", false, "write the bare text of one output, for scripts")
			jsonFlag(f, "write a JSON document")
			stateFlags(f)
		},
		Run: func(ctx context.Context, s *session, args []string) (int, error) {
			s.reportDocuments()
			switch {
			case raw && s.options.json:
				return 0, failure.Error("Options contradict", "Give only one of -raw and -json.")
			case raw && len(args) == 0:
				return 0, failure.Error("Argument missing", "The option -raw is for one output: cairn output -raw NAME.")
			}
			if len(args) == 1 {
				return cmdline.ExitOK, writeOutput(ctx, s, args[0], raw)
			}
			outputs, err := s.stack().Outputs(ctx)
			if err != nil {
				return 0, err
			}
			if s.options.json {
				return cmdline.ExitOK, jsonview.WriteDocument(s.streams.Out, jsonview.NewOutputs(outputs), true)
			}
			return cmdline.ExitOK, views.WriteOutputs(s.streams.Out, outputs, s.viewOptions(s.streams.Out))
		},
	}
}

func writeOutput(ctx context.Context, s *session, name string, raw bool) error {
	value, err := s.stack().Output(ctx, name)
	if err != nil {
		return err
	}
	bare, _ := value.UnmarkDeep()
	switch {
	case (s.options.json || raw) && !bare.IsWhollyKnown():
		return failure.Error("Output not known", "The value of output %q is not known, or not all of it, since the last apply failed or deferred something that it depends on. "+
			"Apply again. \"cairn output -json\" shows what is known.", name)
	case s.options.json:
		return jsonview.WriteDocument(s.streams.Out, jsonview.NewOutput(value), true)
	case raw:
		text, err := views.RawOutput(value)
		if err != nil {
			return failure.Error("No raw form", "The output %q cannot be written with -raw: %s. Use -json.", name, strings.TrimSuffix(err.Error(), "; use -json"))
		}
		s.stdout("%s", text)
		return nil
	}
	// Who asks for one output wants to see it.
	return views.WriteOutput(s.streams.Out, marks.Remove(value, marks.Sensitive))
}
