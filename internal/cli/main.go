// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/cicmd"
	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/enginecmd"
	"github.com/cairnstacks/cairn/internal/cli/fleetcmd"
	"github.com/cairnstacks/cairn/internal/cli/identitycmd"
	"github.com/cairnstacks/cairn/internal/cli/providerscmd"
	"github.com/cairnstacks/cairn/internal/cli/servercmd"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/cli/stackcmd"
	"github.com/cairnstacks/cairn/internal/cli/statecmd"
	"github.com/cairnstacks/cairn/internal/cli/workercmd"
	"github.com/cairnstacks/cairn/internal/failure"
)

// Main runs the command that the arguments name and returns the exit code of the process, which is
// to end then: signals may go on being kept from it.
func Main(ctx context.Context, args []string, streams session.Streams) int {
	tuneMemory()
	guard := session.GuardSignals(func(phase session.GuardPhase) {
		if phase == session.Starting {
			fmt.Fprint(streams.Err, "\nInterrupted. Nothing was begun.\n")
		}
		session.EndProcess(cmdline.ExitError) // as the signal would have done
	})
	return run(ctx, args, streams, session.Dependencies{Guard: guard})
}

func run(ctx context.Context, args []string, streams session.Streams, deps session.Dependencies) int {
	if len(args) > 0 && slices.Contains([]string{"-version", "--version", "-v"}, args[0]) {
		args = append([]string{"version"}, args[1:]...)
	}
	s := session.New(streams, deps)
	defer s.Close()
	status, err := dispatch(ctx, s, args)
	if err != nil {
		s.Fail(err)
		return cmdline.ExitError
	}
	if lost := s.Lost.Load(); lost != nil && status != cmdline.ExitError {
		s.Fail(failure.Error("Output not written", "Some of the output is lost: %s.", failure.Reason(*lost)))
		return cmdline.ExitError
	}
	return status
}

// dispatch runs the command that the arguments name.
func dispatch(ctx context.Context, s *session.Session, args []string) (int, error) {
	program := newProgram()
	inv, err := program.Parse(s, args)
	if err == nil && inv.Help != cmdline.NoHelp {
		s.Print("%s", program.Help(inv.Command, helpWidth(s.Streams.Out)))
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
		s.Deps.Guard.Release()
	}
	ctx, traced := s.Trace(ctx, c.Path())
	s.Log.Info("command", "name", c.Path(), "version", session.Version(), "dir", session.CurrentDir())
	began := time.Now()
	status, err := c.Run(ctx, s, inv.Args)
	traced(status, err)
	s.Log.Info("command ended", "name", c.Path(), "status", status, "failed", err != nil, "duration", time.Since(began))
	return status, err
}

// helpWidth is the width of help that goes to w.
func helpWidth(w io.Writer) int {
	if !session.IsTerminal(w) {
		return cmdline.HelpWidth
	}
	return session.TerminalSize(w).Width
}

// reportJSON makes a command that was not begun show diagnostics as it would have with -json.
func reportJSON(s *session.Session, name string) {
	s.Options.JSON = true
	switch name {
	case "plan", "apply", "destroy":
		stackcmd.NewDisplay(s, name)
	case "validate":
		stackcmd.ReportValidation(s)
	default:
		s.ReportDocuments()
	}
}

// start applies the global options.
func start(s *session.Session) error {
	if s.Options.Chdir != "" {
		if err := os.Chdir(s.Options.Chdir); err != nil {
			return failure.Error("Unusable directory", "The directory given with -chdir cannot be used: %s.", failure.Reason(err))
		}
	}
	return s.OpenLog()
}

// These commands print the names that shells complete.
const (
	listDeployments = "deployment list -names"
	listState       = "state list"
	listComponents  = "state list -components"
)

// newProgram returns the tree of all commands.
func newProgram() *cmdline.Program[*session.Session] {
	return cmdline.New(cmdline.Program[*session.Session]{
		Root: &session.Command{
			Name:    "cairn",
			Summary: "Runs the Terraform Stacks language, by itself or with terraform or tofu.",
			Commands: []*session.Command{
				stackcmd.InitCommand(), stackcmd.ValidateCommand(), stackcmd.PlanCommand(), stackcmd.ApplyCommand(), stackcmd.DestroyCommand(),
				stackcmd.OutputCommand(), stackcmd.ShowCommand(), statecmd.Command(), statecmd.BlameCommand(),
				stackcmd.DeploymentCommand(), stackcmd.ConsoleCommand(), stackcmd.QueryCommand(), stackcmd.GraphCommand(),
				fleetcmd.ListCommand(), fleetcmd.StatusCommand(), fleetcmd.UICommand(), fleetcmd.OrderCommand(), fleetcmd.RunCommand(),
				stackcmd.FormatCommand(), enginecmd.Command(),
				providerscmd.Command(), identitycmd.Command(), cicmd.Command(), workercmd.Command(),
				servercmd.LSPCommand(), servercmd.RPCAPICommand(), servercmd.StacksCommand(),
				stackcmd.VersionCommand(), completionCommand(), helpCommand(),
			},
		},
		NewSession: func() *session.Session { return session.New(session.Streams{}, session.Dependencies{}) },
		Global:     session.GlobalFlags,
		Hints:      cmdline.Hints{Commands: commandHints, Options: optionHints},
		FileArgs:   []string{"FILE", "PLAN", "ROOT"},
		ListedArgs: map[string]string{
			"STACK": "list", "DEPLOYMENT": listDeployments, "ADDRESS": listState, "FROM": listState, "COMPONENT": listComponents,
		},
		ListedValues: map[string]string{"deployment": listDeployments, "target": listComponents, "exclude": listComponents, "replace": listState},
	})
}
