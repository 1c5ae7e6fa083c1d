// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

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
	status, err := s.dispatch(ctx, rootCommand(), args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		s.fail(err)
		return exitError
	}
	if lost := s.lost.Load(); lost != nil && status != exitError {
		s.fail(fail("Output cannot be written", "Some of the output is lost: %s.", reason(*lost)))
		return exitError
	}
	return status
}

// dispatch runs the command that the first arguments name. Global options may stand before it.
func (s *session) dispatch(ctx context.Context, c *command, args []string) (int, error) {
	for len(c.commands) > 0 {
		flags := s.newFlags(c)
		if c.run != nil {
			c.flags(flags)
		}
		rest, err := flags.leading(args)
		if err != nil {
			return 0, s.helpOr(c, flags, err)
		}
		if len(rest) == 0 && c.run == nil {
			s.stdout("%s", c.help(flags))
			return exitError, nil
		}
		if len(rest) == 0 {
			break
		}
		next, err := c.find(rest[0])
		if c.passesOn && (err != nil || endsOptions(args, rest)) {
			break // what follows is not for cairn
		}
		if err == nil {
			err = flags.onlyGlobal(next)
		}
		if err != nil {
			return 0, err
		}
		c, args = next, rest[1:]
	}
	flags := s.newFlags(c)
	if c.flags != nil {
		c.flags(flags)
	}
	parse := flags.parseAll
	if c.passesOn {
		parse = flags.leading
	}
	positional, err := parse(args)
	if err != nil {
		err = s.helpOr(c, flags, err)
	} else if err = c.checkArgs(positional); err == nil {
		err = s.start()
	}
	if err != nil {
		if flags.asksForJSON(args) {
			s.reportJSON(strings.TrimPrefix(c.path(), "cairn "))
		}
		return 0, err
	}
	if !c.interruptible {
		s.deps.guard.release()
	}
	s.log.Info("command", "name", c.path(), "version", version(), "dir", currentDir())
	began := time.Now()
	status, err := c.run(ctx, s, positional)
	s.log.Info("command ended", "name", c.path(), "status", status, "failed", err != nil, "duration", time.Since(began))
	return status, err
}

// endsOptions tells whether the arguments that are left begin after a --.
func endsOptions(args, rest []string) bool {
	parsed := len(args) - len(rest)
	return parsed > 0 && args[parsed-1] == "--"
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

// helpOr shows the help that was asked for.
func (s *session) helpOr(c *command, flags *flagSet, err error) error {
	if errors.Is(err, flag.ErrHelp) {
		s.stdout("%s", c.help(flags))
	}
	return err
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

// rootCommand returns the tree of all commands.
func rootCommand() *command {
	return &command{
		name:    "cairn",
		summary: "Runs the Terraform Stacks language with terraform or tofu.",
		commands: []*command{
			initCommand(), validateCommand(), planCommand(), applyCommand(), destroyCommand(),
			outputCommand(), showCommand(), stateCommand(), consoleCommand(), graphCommand(),
			listCommand(), orderCommand(), runCommand(), formatCommand(), engineCommand(), versionCommand(), completionCommand(), helpCommand(),
		},
	}
}

// find returns the subcommand of that name.
func (c *command) find(name string) (*command, error) {
	i := slices.IndexFunc(c.commands, func(sub *command) bool { return sub.name == name })
	if i >= 0 {
		return c.commands[i], nil
	}
	names := make([]string, len(c.commands))
	for i, sub := range c.commands {
		names[i] = sub.name
	}
	if hint, ok := elsewhere[c.path()+" "+name]; ok {
		return nil, fail("Unknown command", "There is no command %q. %s", name, hint)
	}
	return nil, fail("Unknown command", "There is no command %q.%s Run \"%s -h\" for a list of commands.",
		name, didYouMean(name, names, ""), c.path())
}
