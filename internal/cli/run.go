// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/changes"
	"github.com/cairnstacks/cairn/internal/order/process"
	"github.com/cairnstacks/cairn/internal/order/render"
)

// runOptions say how a command is run in stacks.
type runOptions struct {
	tree            treeOptions
	reverse, dryRun bool
	parallelOption  countValue
	parallel        int
	keepGoing, fast bool
	allowDirty      bool
	report          fileValue
	command         []string
	program         string // path of the command's program, or relative to a stack's directory
}

func runCommand() *command {
	var o runOptions
	return group(&command{
		name:    "run",
		args:    "-- COMMAND [ARGUMENT...]",
		summary: "Runs a command in stacks, in their order.",
		long: `
The command is run in the directory of each selected stack, when all that comes before it is done. If it fails in one, what comes after that
stack is not started, and everything else is. With -changed, nothing may be uncommitted.

An interrupt is passed on to what is running, and nothing more is started; a second one ends at once what is still running.`,
		example:  "cairn run -- terraform init\ncairn run -changed -parallel=4 -- terraform plan -out=plan\ncairn run -reverse -tags=dev -- terraform destroy",
		maxArgs:  1 << 30,
		passesOn: true,
		flags: func(f *flagSet) {
			o = runOptions{}
			f.treeFlags(&o.tree)
			f.pluginFlags(&o.tree)
			f.BoolVar(&o.reverse, "reverse", false, "in the reverse order")
			f.Var(&o.parallelOption, "parallel", "run in `N` stacks at the same time (default: as a workspace file says, or 1); the output of each is shown when it has ended")
			f.BoolVar(&o.keepGoing, "continue-on-error", false, "after a failure also start what comes after the stack")
			f.BoolVar(&o.fast, "fail-fast", false, "after a failure start nothing more")
			f.BoolVar(&o.dryRun, "dry-run", false, "only show what would be run where")
			f.BoolVar(&o.allowDirty, "allow-dirty", false, "with -changed: also if files are not committed")
			f.Var(&o.report, "report", "write the results to `FILE`: JSON, or JUnit if its name ends in .xml")
		},
		run: func(ctx context.Context, s *session, args []string) (int, error) {
			o.command = args
			if o.tree.plugins.dir != "" {
				return s.runPlugins(ctx, o)
			}
			if err := o.check(); err != nil {
				return 0, err
			}
			if work, err := s.openWorkspace(ctx, o.tree); err != nil {
				return 0, err
			} else if work != nil {
				return s.runWorkspace(ctx, work, o)
			}
			tree, err := s.openTree(ctx, o.tree)
			if err == nil {
				err = tree.order()
			}
			if err != nil {
				return 0, err
			}
			if err := s.report(tree.diags); err != nil {
				return 0, err
			}
			if o.reverse {
				tree.graph = tree.graph.Reverse()
			}
			sequence := tree.graph.Sequence(order.ByQueue, tree.selected.Selection)
			switch {
			case len(sequence) == 0:
				s.note("There is nothing to run: no stack is selected.\n")
				return exitOK, nil
			case o.dryRun:
				for _, i := range sequence {
					s.stdout("%s: %s\n", tree.name(i), commandLine(o.command))
				}
				return exitOK, nil
			}
			if tree.changes != nil {
				if err := o.checkDirty(ctx, tree.changes.repository); err != nil {
					return 0, err
				}
			}
			return s.runInStacks(ctx, tree, o)
		},
	}, runPlanCommand(), runApplyCommand(), runDestroyCommand(), runStatesCommand())
}

func (o *runOptions) check() error {
	if err := o.tree.plugins.alone(); err != nil {
		return err
	}
	if err := o.checkNumbers(); err != nil {
		return err
	}
	if len(o.command) == 0 {
		return fail("Argument missing", "The command needs: cairn run -- COMMAND [ARGUMENT...]. Run \"cairn run -h\" for an example.")
	}
	o.program = o.command[0]
	if strings.ContainsRune(o.program, filepath.Separator) {
		return nil
	}
	program, err := exec.LookPath(o.program)
	if err != nil {
		return fail("Command not found", "There is no program %q on PATH. Nothing was run.", o.program)
	}
	o.program = program
	return nil
}

func (o *runOptions) checkNumbers() error {
	o.parallel = max(int(o.parallelOption), 1)
	if o.keepGoing && o.fast {
		return fail("Options contradict", "Give only one of -continue-on-error and -fail-fast.")
	}
	return nil
}

// checkDirty refuses to act on changes that only this working copy has.
func (o *runOptions) checkDirty(ctx context.Context, repository *changes.Repository) error {
	if repository == nil || o.allowDirty {
		return nil
	}
	return refuseDirty(ctx, repository)
}

func refuseDirty(ctx context.Context, repository *changes.Repository) error {
	dirty, err := repository.Dirty(ctx)
	if err != nil || len(dirty) == 0 {
		return err
	}
	const most = 5
	var names []string
	for _, file := range dirty[:min(len(dirty), most)] {
		names = append(names, file.Path)
	}
	if len(dirty) > most {
		names = append(names, "…")
	}
	return fail("Uncommitted files", "There are files that are not committed: %s. Nothing was run. "+
		"Commit them, let git ignore them, or give -allow-dirty to run on them as they are.", strings.Join(names, ", "))
}

// commandLine shows a command as a shell would take it.
func commandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.ContainsFunc(word, func(r rune) bool { return !strings.ContainsRune(plainLetters, r) }) {
			quoted[i] = shellQuote(word)
		}
	}
	return strings.Join(quoted, " ")
}

const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,+@%"

// stackRun is the run of a command in stacks.
type stackRun struct {
	session   *session
	tree      *stackTree
	options   runOptions
	processes *process.Set
	output    *render.Output
	terminal  bool           // commands read from the terminal
	times     []render.Times // by stack
}

func (s *session) runInStacks(ctx context.Context, tree *stackTree, o runOptions) (int, error) {
	parallel := o.parallel > 1
	r := &stackRun{
		session: s, tree: tree, options: o, processes: &process.Set{}, terminal: !parallel && s.inputIsTerminal(),
		output: render.NewOutput(s.streams.Out, s.streams.Err, parallel), times: make([]render.Times, len(tree.Stacks)),
	}
	ctx, stop := s.forwardInterrupts(ctx, r.processes, r.terminal)
	results := tree.graph.Run(ctx, order.RunOptions{
		Selected: tree.selected.Selection, Rule: order.ByQueue,
		Parallel: o.parallel, FailFast: o.fast, KeepGoing: o.keepGoing,
	}, r.stack)
	stop()
	summary := render.Summary{View: tree.view(false), Command: o.command, Results: results, Times: r.times, Sequence: tree.graph.Sequence(order.ByQueue, tree.selected.Selection)}
	s.note("%s", summary.Text())
	if o.report != "" {
		if err := writeRunReport(string(o.report), summary); err != nil {
			return 0, fail("Report cannot be written", "The results cannot be written to %s: %s.", o.report, reason(err))
		}
	}
	if summary.OK() {
		return exitOK, nil
	}
	return exitError, nil
}

// stack runs the command in one stack.
func (r *stackRun) stack(_ context.Context, i int) error {
	out := r.output.Node(r.tree.name(i))
	command := process.Command{
		Program: r.options.program, Args: r.options.command[1:], Dir: r.tree.dir(i),
		Stdout: out.Out, Stderr: out.Err, Foreground: r.terminal,
	}
	if file, ok := r.session.streams.In.(*os.File); ok && r.options.parallel == 1 {
		command.Stdin = file
	}
	r.times[i].Started = time.Now()
	err := r.processes.Run(command)
	r.times[i].Ended = time.Now()
	if errors.Is(err, process.ErrStopped) {
		err = order.ErrNotStarted
	}
	return errors.Join(err, out.Close())
}

// writeRunReport writes results in the format that the name of the file asks for.
func writeRunReport(name string, summary render.Summary) error {
	write := summary.JSON
	if strings.HasSuffix(name, ".xml") {
		write = summary.JUnit
	}
	content, err := write()
	if err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o644) //nolint:gosec // there is nothing secret in it
}
