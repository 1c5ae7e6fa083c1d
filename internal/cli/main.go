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

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/failure"
)

// Streams are what a command reads from and writes to.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// The exit codes (rule L2).
const (
	exitOK      = 0
	exitError   = 1
	exitChanges = 2
)

// Main runs the command that the arguments name and returns the exit code of the process, which is to end then: signals may go on being
// kept from it.
func Main(ctx context.Context, args []string, streams Streams) int {
	guard := guardSignals(func(phase guardPhase) {
		if phase == starting {
			fmt.Fprint(streams.Err, "\nInterrupted. Nothing was begun.\n")
		}
		runner.KillShort()
		os.Exit(exitError) // as the signal would have done
	})
	return run(ctx, args, streams, dependencies{guard: guard})
}

func run(ctx context.Context, args []string, streams Streams, deps dependencies) int {
	if len(args) > 0 && (args[0] == "-version" || args[0] == "--version") {
		args = append([]string{"version"}, args[1:]...)
	}
	s := newSession(streams, deps)
	defer s.close()
	status, err := s.dispatch(ctx, args)
	if err != nil {
		s.fail(err)
		return exitError
	}
	if lost := s.lost.Load(); lost != nil && status != exitError {
		s.fail(fail("Output cannot be written", "Some of the output is lost: %s.", reason(*lost)))
		return exitError
	}
	return status
}

// dispatch runs the command that the arguments name.
func (s *session) dispatch(ctx context.Context, args []string) (int, error) {
	program := newProgram()
	inv, err := program.Parse(s, args)
	if err == nil && inv.Help != cmdline.NoHelp {
		s.stdout("%s", program.Help(inv.Command, helpWidth(s.streams.Out)))
		if inv.Help == cmdline.CommandMissing {
			return exitError, nil
		}
		return exitOK, nil
	}
	if err == nil {
		err = s.start()
	}
	c := inv.Command
	if err != nil {
		if inv.JSON {
			s.reportJSON(strings.TrimPrefix(c.Path(), "cairn "))
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
func (s *session) reportJSON(name string) {
	s.options.json = true
	switch name {
	case "plan", "apply", "destroy":
		s.newDisplay(name)
	case "validate":
		s.reportValidation()
	default:
		s.reportDocuments()
	}
}

// start applies the global options.
func (s *session) start() error {
	if s.options.chdir != "" {
		if err := os.Chdir(s.options.chdir); err != nil {
			return fail("Directory cannot be used", "The directory given with -chdir cannot be used: %s.", reason(err))
		}
	}
	return s.openLog()
}

// fail returns an error that is shown as a diagnostic with this summary and detail.
func fail(summary, detail string, args ...any) error { return failure.Error(summary, detail, args...) }

func problem(summary, detail string, args ...any) *hcl.Diagnostic {
	return failure.New(summary, detail, args...)
}

func reason(err error) string { return failure.Reason(err) }

func upperFirst(text string) string { return failure.Capitalize(text) }

func sentences(text string) string { return failure.Sentences(text) }

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
