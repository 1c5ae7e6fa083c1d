// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"
)

func commandFunctions() map[string]*function {
	args := map[string]kind{
		"cwd": text, "env": environment, "shell": text, "runas": text, "umask": text, "stdin": text, "hide_output": boolean,
		"success_retcodes": exitCodes, "stateful": ownState,
	}
	run := func(ctx context.Context, c *call) schedule.Outcome { return c.command(ctx) }
	late := func(ctx context.Context, c *call) schedule.Outcome {
		if c.Late {
			return c.command(ctx)
		}
		return schedule.Outcome{} // it was run just now, after the calls it watches
	}
	script := maps.Clone(args)
	script["source"], script["args"] = text, text
	return map[string]*function{
		"cmd.run":    {args: args, check: checkCommand, call: run, react: late},
		"cmd.script": {args: script, check: checkScript, call: run, react: late},
		"cmd.wait": {
			args: args, check: checkCommand, react: run,
			call: func(context.Context, *call) schedule.Outcome {
				return schedule.Outcome{Comment: "Runs only if something changes that it watches."}
			},
		},
	}
}

func checkCommand(c *call) error {
	if cwd := c.text("cwd"); c.given("cwd") && !filepath.IsAbs(cwd) {
		return wrongArgument("cwd", "the directory %q is not absolute", cwd)
	}
	if _, err := strconv.ParseUint(c.text("umask"), 8, 9); c.given("umask") && err != nil {
		return wrongArgument("umask", "the argument \"umask\" must be octal digits such as \"077\", not %q", c.text("umask"))
	}
	return nil
}

// commandLine is a command for the shell, with the arguments of functions of "cmd".
func (c *call) commandLine(line string) Command {
	if c.Module != "cmd" { // others may mean something else by arguments of these names
		return Command{Args: []string{"/bin/sh", "-c", line}}
	}
	shell := "/bin/sh"
	if own := c.text("shell"); own != "" {
		shell = own
	}
	if c.given("umask") {
		line = "umask " + c.text("umask") + "\n" + line
	}
	return Command{Args: []string{shell, "-c", line}, Dir: c.text("cwd"), Env: c.environment(), User: c.text("runas")}
}

func (c *call) command(ctx context.Context) schedule.Outcome {
	if c.Test {
		return c.wouldRun(ctx)
	}
	command := c.commandLine(c.Name)
	if c.Function == "script" {
		dir, err := c.layOut(&command)
		if err != nil {
			return failed("The script cannot be run: %s.", reason(err))
		}
		defer func() { _ = os.RemoveAll(dir) }() //nolint:errcheck // it is in the directory for temporary files
	}
	command.Stdin = []byte(c.text("stdin"))
	output, err := c.host.runner().Run(ctx, command)
	if _, notStarted := errors.AsType[*startError](err); notStarted {
		return schedule.Outcome{Failed: true, Comment: c.ended("The command", err)}
	}
	shown := c.shown(output)
	changes := &compile.Map{}
	changes.Set("retcode", int64(output.Code))
	changes.Set("stdout", shown.Stdout)
	changes.Set("stderr", shown.Stderr)
	switch { // one that fails has run, too, and may have changed anything
	case err != nil:
		return schedule.Outcome{Failed: true, Changed: true, Changes: changes, Comment: c.ended("The command", err)}
	case !c.isSuccess(output.Code):
		return schedule.Outcome{
			Failed:  true,
			Changed: true,
			Changes: changes,
			Comment: fmt.Sprintf("The command ended with exit code %d%s", output.Code, said(shown)),
		}
	}
	outcome := schedule.Outcome{Changed: true, Changes: changes, Comment: "The command was run."}
	if c.tellsState() {
		return c.readState(output, outcome)
	}
	return outcome
}

// shown is the part of an output that users are to see.
func (c *call) shown(output Output) Output {
	if c.boolean("hide_output", false) {
		output.Stdout, output.Stderr = "", ""
	}
	return output
}

// ended says why something has not come to its own end.
func (c *call) ended(what string, err error) string {
	if errors.Is(err, errTimeout) {
		return fmt.Sprintf("%s was ended: after %s seconds it was still running.", what, c.text("timeout"))
	}
	if _, notStarted := errors.AsType[*startError](err); notStarted {
		return fmt.Sprintf("%s cannot be run: %s.", what, err)
	}
	return fmt.Sprintf("%s was ended: %s.", what, err)
}

func (c *call) isSuccess(code int) bool {
	codes, ok := exitCodesOf(c.Args.Get("success_retcodes"))
	return code == 0 || ok && slices.Contains(codes, code)
}

// lacks returns in test mode the missing prerequisites of the commands of a call, "" if there are
// none. Other calls may bring them.
func (c *call) lacks() (missing string, err error) {
	if !c.Test || c.Module != "cmd" {
		return "", nil
	}
	return c.host.runner().Lacks(c.commandLine(""))
}

// wouldRun reports the changes that running the command would make. Commands that report their
// state themselves may have one to be asked about that.
func (c *call) wouldRun(ctx context.Context) schedule.Outcome {
	missing, err := c.lacks()
	if err != nil {
		return schedule.Outcome{Failed: true, Comment: c.ended("The command", &startError{err})}
	}
	if c.Function == "script" {
		if _, err := c.script(); err != nil {
			return failed("The script cannot be run: %s.", err)
		}
	}
	changes := &compile.Map{}
	changes.Set("command", c.Name)
	would := schedule.Outcome{Changed: true, Changes: changes, Comment: "The command would be run."}
	if missing != "" {
		would.Comment += " But " + missing + " yet."
		return would
	}
	question, ok := ownStateOf(c.Args.Get("stateful"))
	if !ok || question == "" {
		return would
	}
	output, err := c.host.runner().Run(ctx, c.commandLine(question))
	switch {
	case err != nil:
		return schedule.Outcome{Failed: true, Comment: c.ended(fmt.Sprintf("The command %q", question), err)}
	case !c.isSuccess(output.Code):
		return failed("The command %q ended with exit code %d%s", question, output.Code, said(c.shown(output)))
	}
	return c.readState(output, would)
}
