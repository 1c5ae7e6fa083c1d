// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"slices"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
)

func helpCommand() *session.Command {
	return &session.Command{
		Name:    "help",
		Args:    "[COMMAND]",
		Summary: "Shows the help of a command.",
		Example: "cairn help plan\ncairn help state list",
		MaxArgs: 2,
		Run: func(_ context.Context, s *session.Session, args []string) (int, error) {
			program := newProgram()
			c, err := program.Find(args)
			if err != nil {
				return 0, err
			}
			s.Print("%s", program.Help(c, helpWidth(s.Streams.Out)))
			return cmdline.ExitOK, nil
		},
	}
}

func completionCommand() *session.Command {
	return &session.Command{
		Name:    "completion",
		Args:    "bash|zsh|fish",
		Summary: "Writes a script with which a shell completes commands and options.",
		Long: `
It completes commands, options, values of options where they are known, and files; after "cairn
order explain" the stacks of "cairn list", and after "cairn run --" programs.

For bash, add to ~/.bashrc:                source <(cairn completion bash)
For zsh, add to ~/.zshrc, after compinit:  source <(cairn completion zsh)
For fish, run once:                        cairn completion fish > ~/.config/fish/completions/cairn.fish`,
		Example: "cairn completion bash",
		MinArgs: 1, MaxArgs: 1,
		Run: func(_ context.Context, s *session.Session, args []string) (int, error) {
			if shell := args[0]; !slices.Contains(cmdline.Shells(), shell) {
				return 0, failure.Error("Unknown shell", "There is no completion for %q.%s Give bash, zsh or fish.",
					shell, nearest.DidYouMean(shell, cmdline.Shells()))
			}
			s.Print("%s", newProgram().Completion(args[0]))
			return cmdline.ExitOK, nil
		},
	}
}
