// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/cairnstacks/cairn/internal/buildinfo"
	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
)

func helpCommand() *session.Command {
	var man cmdline.File
	return &session.Command{
		Name:    "help",
		Args:    "[COMMAND]",
		Summary: "Shows the help of a command.",
		Example: "cairn help plan\ncairn help state list\ncairn help -man=$HOME/.local/share/man/man1",
		MaxArgs: 2,
		Flags: func(f *session.Flags) {
			f.Var(&man, "man", "write man pages of all commands into `DIR` instead, for man to find them there")
		},
		Run: func(_ context.Context, s *session.Session, args []string) (int, error) {
			program := newProgram()
			if man != "" {
				return cmdline.ExitOK, writeManPages(program, string(man), args)
			}
			c, err := program.Find(args)
			if err != nil {
				return 0, err
			}
			s.Print("%s", program.Help(c, helpWidth(s.Streams.Out)))
			return cmdline.ExitOK, nil
		},
	}
}

// writeManPages writes a file for each command.
func writeManPages(program *cmdline.Program[*session.Session], dir string, args []string) error {
	if len(args) > 0 {
		return failure.Error("Conflicting options", "With -man, pages of all commands are written. Leave out %q.", args[0])
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // man reads it for all users
		return failure.Error("Man pages not written", "The directory cannot be made: %s.", failure.Reason(err))
	}
	build := buildinfo.Read()
	for name, page := range program.ManPages(cmdline.ManOrigin{Version: build.Version, Date: build.Date}) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(page), 0o644); err != nil { //nolint:gosec // as above
			return failure.Error("Man pages not written", "A page cannot be written: %s.", failure.Reason(err))
		}
	}
	return nil
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
