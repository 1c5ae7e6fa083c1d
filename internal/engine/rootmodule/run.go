// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/telemetry"
)

// prepare installs the providers and modules of the module, and selects its workspace.
func (w *Work) prepare(ctx context.Context) error {
	if w.prepared {
		return nil
	}
	if err := w.initialize(ctx); err != nil {
		return err
	}
	if err := w.selectWorkspace(ctx); err != nil {
		return err
	}
	w.prepared = true
	return nil
}

// initialize runs init.
func (w *Work) initialize(ctx context.Context) error {
	unlock, err := w.engine.Shared.LockCache(ctx, cliconfig.AbsolutePaths(w.opts.Environ, w.opts.Dir))
	if err != nil {
		return process.Stopped(ctx)
	}
	defer unlock()
	return w.either(ctx, []string{"init", "-input=false"}, "Root module not initialized")
}

// selectWorkspace selects the workspace, and makes it if there is none, as a person would do it.
// Later commands name it nevertheless: others may select another one in the same directory
// meanwhile.
func (w *Work) selectWorkspace(ctx context.Context) error {
	if w.opts.Workspace == "" || environ.Get(w.opts.Environ, initdir.WorkspaceVariable) == w.opts.Workspace {
		return nil
	}
	if err := w.either(ctx, []string{"workspace", "select", "-or-create=true", w.opts.Workspace}, "Workspace not selected"); err != nil {
		return err
	}
	w.useWorkspace()
	return nil
}

// nameWorkspace names the workspace to all that follows, without writing anything. It reports
// whether there is such a workspace: naming one that there is not would make it.
func (w *Work) nameWorkspace(ctx context.Context) (exists bool, err error) {
	if w.opts.Workspace == "" {
		return true, nil
	}
	list, err := w.ask(ctx, w.out.Stderr, "workspace", "list")
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(list)) {
		if strings.TrimSpace(strings.TrimPrefix(line, "*")) == w.opts.Workspace {
			w.useWorkspace()
			return true, nil
		}
	}
	return false, nil
}

func (w *Work) useWorkspace() {
	w.opts.Environ = append(slices.Clone(w.opts.Environ), initdir.WorkspaceVariable+"="+w.opts.Workspace)
}

// either runs a command that reports data only with newer engines; others refuse the option before
// they do anything else. The summary is for a failure of which there are texts only.
func (w *Work) either(ctx context.Context, args []string, summary string) error {
	if _, isTextOnly := w.engine.textOnly.Load(args[0]); !isTextOnly {
		options := []string{"-json"}
		if args[0] == "init" { // which prints some of it as it would without that option
			options = append(options, w.engine.Options...)
		}
		attempt := &reporter{args: slices.Insert(slices.Clone(args), optionsAt(args), options...), mayRefuse: true}
		result, err := w.run(ctx, attempt)
		if result == nil || !attempt.refused(result) {
			return err
		}
		w.engine.textOnly.Store(args[0], true)
	}
	err := w.printing(ctx, args)
	if _, failed := errors.AsType[*process.ExitError](err); failed {
		w.printed = append(w.printed, failure.New(summary, "The command %s has failed, and says why in its output.", strings.Join(args, " ")))
	}
	return err
}

// optionsAt is where the options of a command are among its arguments: after its name, or that of
// its subcommand.
func optionsAt(args []string) int {
	if args[0] == "workspace" {
		return 2
	}
	return 1
}

// printing runs a command that prints texts.
func (w *Work) printing(ctx context.Context, args []string) error {
	args = slices.Insert(slices.Clone(args), optionsAt(args), w.engine.Options...)
	return w.command(ctx, w.out.Stdout, w.out.Stderr, args)
}

// ask runs a command and returns its answer. That may hold secrets, and is not shown.
func (w *Work) ask(ctx context.Context, stderr io.Writer, args ...string) ([]byte, error) {
	var stdout bytes.Buffer
	err := w.command(ctx, &stdout, stderr, args)
	return stdout.Bytes(), err
}

func (w *Work) command(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	if err := process.Stopped(ctx); err != nil {
		return err
	}
	return w.engine.Processes.Run(process.Command{
		Program: w.engine.Path, Args: args, Dir: w.opts.Dir, Env: telemetry.Environ(ctx, w.opts.Environ), Stdout: stdout, Stderr: stderr,
	})
}

// reporting runs a command that reports data. The function gets its events; it may be nil. There is
// no result of a command that was not started.
//
// Errors: as those of [process.Set.Run].
func (w *Work) reporting(ctx context.Context, args []string, onEvent func(runner.Event)) (*runner.Result, error) {
	return w.run(ctx, &reporter{args: args, onEvent: onEvent})
}

// reporter is a command that reports data.
type reporter struct {
	args      []string
	onEvent   func(runner.Event)
	mayRefuse bool // if it fails without having reported anything, its output is of no interest

	reported bool       // it has said something as data
	held     []heldLine // of one that may refuse, until it has
}

type heldLine struct {
	to   io.Writer
	text []byte
}

// refused reports whether a command has failed without having reported anything.
func (c *reporter) refused(result *runner.Result) bool {
	return c.mayRefuse && !c.reported && result.Outcome == runner.OutcomeFailed
}

// print shows a line that is not data.
func (c *reporter) print(to io.Writer, line []byte) {
	if c.mayRefuse && !c.reported {
		c.held = append(c.held, heldLine{to, bytes.Clone(line)})
		return
	}
	c.release()
	writeLine(to, line)
}

// release shows the lines held back.
func (c *reporter) release() {
	for _, line := range c.held {
		writeLine(line.to, line.text)
	}
	c.held = nil
}

// writeLine writes a line for a view, which says at its end whether all could be shown.
func writeLine(to io.Writer, line []byte) {
	_, _ = fmt.Fprintf(to, "%s\n", line)
}

func (w *Work) run(ctx context.Context, c *reporter) (*runner.Result, error) {
	if err := process.Stopped(ctx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(w.opts.RunDir, 0o700); err != nil {
		return nil, fmt.Errorf("making a directory for a command: %w", err)
	}
	w.compact = w.compact || asksCompactWarnings(w.opts.Environ, c.args[0])
	started, leave, err := w.start(ctx, c.args, func(line []byte) { c.print(w.out.Stderr, line) })
	if err != nil {
		return nil, err
	}
	defer leave()
	result, err := started.Wait(ctx, func(ev runner.Event) {
		if ev.Type == "" {
			c.print(w.out.Stdout, ev.Raw)
			return
		}
		c.reported = true
		c.release()
		w.event(c, ev)
	})
	if !c.refused(result) {
		c.release()
	}
	if w.latch != nil && w.latch.copy != nil {
		w.diags = append(w.diags, w.latch.ofCopy(w.latch.copy.Diagnostics(result.Diagnostics))...)
	} else {
		w.diags = append(w.diags, diagnostics(result.Diagnostics)...)
	}
	if err == nil && result.Outcome != runner.OutcomeSucceeded {
		err = process.NewExitError(result.ExitCode, result.Ended)
	}
	return result, err
}

// start starts a process that reports data. It ends with all other processes, too, until leave is
// called.
func (w *Work) start(ctx context.Context, args []string, errLine func([]byte)) (started *runner.Process, leave func(), err error) {
	env := w.opts.Environ
	var piped []byte
	if w.latch != nil && w.latch.copy != nil {
		args, env = w.inCopy(args)
		if w.latch.hasEphemeral() {
			if piped, err = w.latch.copy.ShareVariables(); err != nil {
				return nil, nil, err
			}
		}
	}
	leave, err = w.engine.Processes.Enter(func() (process.Guest, error) {
		var err error
		started, err = runner.Start(runner.Command{
			Path: w.engine.Path, Args: args, Dir: w.opts.Dir, Env: telemetry.Environ(ctx, env),
			RunDir: w.opts.RunDir, Disposable: true, OnStderr: errLine, Piped: piped,
		})
		if err != nil {
			return nil, err
		}
		return started, nil
	})
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		err = process.StartError(&exec.Cmd{Path: w.engine.Path, Dir: w.opts.Dir}, err)
	}
	return started, leave, err
}

// event shows the report of a command.
func (w *Work) event(c *reporter, ev runner.Event) {
	if c.onEvent != nil {
		c.onEvent(ev)
	}
	switch ev.Type {
	case runner.EventVersion, runner.EventDiagnostic, runner.EventChangeSummary, runner.EventOutputs: // shown in other ways
	default:
		w.out.Event.Observe(ev.Progress())
	}
}

// asksCompactWarnings reports whether an environment adds the option for that to a command.
func asksCompactWarnings(env []string, command string) bool {
	for _, name := range []string{"TF_CLI_ARGS", "TF_CLI_ARGS_" + command} {
		for word := range strings.FieldsSeq(environ.Get(env, name)) {
			if name, value, _ := strings.Cut(strings.TrimLeft(word, "-"), "="); name == "compact-warnings" && value != "false" {
				return true
			}
		}
	}
	return false
}

// diagnostics returns the diagnostics of a command, sorted by place: its own order depends on
// scheduling.
func diagnostics(reported []diagnostic.Diagnostic) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i := range reported {
		diags = diags.Append(reported[i].HCL())
	}
	slices.SortStableFunc(diags, identity.Compare)
	return diags
}
