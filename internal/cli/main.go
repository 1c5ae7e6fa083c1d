// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/failure"
)

// Main runs the command that the arguments name and returns the exit code of the process, which is to end then: signals may go on being
// kept from it.
func Main(ctx context.Context, args []string, streams Streams) int {
	guard := guardSignals(func(phase guardPhase) {
		if phase == starting {
			fmt.Fprint(streams.Err, "\nInterrupted. Nothing was begun.\n")
		}
		runner.KillShort()
		os.Exit(cmdline.ExitError) // as the signal would have done
	})
	return run(ctx, args, streams, dependencies{guard: guard})
}

func run(ctx context.Context, args []string, streams Streams, deps dependencies) int {
	if len(args) > 0 && (args[0] == "-version" || args[0] == "--version") {
		args = append([]string{"version"}, args[1:]...)
	}
	s := newSession(streams, deps)
	defer s.close()
	status, err := dispatch(ctx, s, args)
	if err != nil {
		s.fail(err)
		return cmdline.ExitError
	}
	if lost := s.lost.Load(); lost != nil && status != cmdline.ExitError {
		s.fail(failure.Error("Output cannot be written", "Some of the output is lost: %s.", failure.Reason(*lost)))
		return cmdline.ExitError
	}
	return status
}

// dispatch runs the command that the arguments name.
func dispatch(ctx context.Context, s *session, args []string) (int, error) {
	program := newProgram()
	inv, err := program.Parse(s, args)
	if err == nil && inv.Help != cmdline.NoHelp {
		s.stdout("%s", program.Help(inv.Command, helpWidth(s.streams.Out)))
		if inv.Help == cmdline.CommandMissing {
			return cmdline.ExitError, nil
		}
		return cmdline.ExitOK, nil
	}
	if err == nil {
		err = start(s)
	}
	c := inv.Command
	if err != nil {
		if inv.JSON {
			reportJSON(s, strings.TrimPrefix(c.Path(), "cairn "))
		}
		return 0, err
	}
	if !c.Interruptible {
		s.deps.guard.release()
	}
	s.log.Info("command", "name", c.Path(), "version", version(), "dir", currentDir())
	began := time.Now()
	status, err := c.Run(ctx, s, inv.Args)
	s.log.Info("command ended", "name", c.Path(), "status", status, "failed", err != nil, "duration", time.Since(began))
	return status, err
}

// helpWidth is how wide help is that goes to w.
func helpWidth(w io.Writer) int {
	if !isTerminal(w) {
		return cmdline.HelpWidth
	}
	return terminalSize(w).Width
}

// reportJSON makes a command that was not begun show diagnostics as it would have with -json.
func reportJSON(s *session, name string) {
	s.options.json = true
	switch name {
	case "plan", "apply", "destroy":
		newDisplay(s, name)
	case "validate":
		reportValidation(s)
	default:
		s.reportDocuments()
	}
}

// start applies the global options.
func start(s *session) error {
	if s.options.chdir != "" {
		if err := os.Chdir(s.options.chdir); err != nil {
			return failure.Error("Directory cannot be used", "The directory given with -chdir cannot be used: %s.", failure.Reason(err))
		}
	}
	return s.openLog()
}

// newProgram returns the tree of all commands.
func newProgram() *cmdline.Program[*session] {
	return cmdline.New(cmdline.Program[*session]{
		Root: &command{
			Name:    "cairn",
			Summary: "Runs the Terraform Stacks language with terraform or tofu.",
			Commands: []*command{
				initCommand(), validateCommand(), planCommand(), applyCommand(), destroyCommand(),
				outputCommand(), showCommand(), stateCommand(), consoleCommand(), graphCommand(),
				listCommand(), orderCommand(), runCommand(), formatCommand(), engineCommand(), versionCommand(), completionCommand(), helpCommand(),
			},
		},
		NewSession: func() *session { return newSession(Streams{}, dependencies{}) },
		Global:     globalFlags,
		Hints:      cmdline.Hints{Commands: elsewhere, Options: elsewhereOptions},
		FileArgs:   []string{"FILE", "PLAN", "ROOT"},
		ListedArgs: map[string]string{"STACK": "list"},
	})
}
