// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/process"
	"github.com/cairnstacks/cairn/internal/order/render"
	"github.com/cairnstacks/cairn/internal/order/stage"
	"github.com/cairnstacks/cairn/internal/order/workspace"
)

// nodeWork is what is run for a node.
type nodeWork struct {
	command  process.Command
	shown    []string // the command, for people
	retries  int
	interval time.Duration
	reaction *process.Command // after the command; nil for none
}

// nodesRun runs what nodes of an ordering stand for.
type nodesRun struct {
	session   *session
	ordering  *ordering
	options   runOptions
	work      func(node int) nodeWork
	processes *process.Set
	output    *render.Output
	terminal  bool
	times     []render.Times // by node
}

// runNodes runs nodes in their order and sums up.
func (s *session) runNodes(ctx context.Context, o *ordering, options runOptions, graphOptions order.RunOptions, work func(node int) nodeWork) (int, error) {
	if err := s.report(o.diags); err != nil {
		return 0, err
	}
	parallel := graphOptions.Parallel > 1
	r := &nodesRun{
		session: s, ordering: o, options: options, work: work, processes: &process.Set{}, terminal: !parallel && s.inputIsTerminal(),
		output: render.NewOutput(s.streams.Out, s.streams.Err, parallel), times: make([]render.Times, o.graph.Len()),
	}
	sequence := o.graph.Sequence(o.rule, o.selected)
	if len(sequence) == 0 {
		s.note("There is nothing to run: nothing is selected.\n")
		return exitOK, nil
	}
	if options.dryRun {
		for _, n := range sequence {
			s.stdout("%s: %s\n", o.name(n), commandLine(work(n).shown))
		}
		return exitOK, nil
	}
	graphOptions.Selected, graphOptions.Rule = o.selected, o.rule
	graphOptions.FailFast, graphOptions.KeepGoing = options.fast, options.keepGoing
	ctx, stop := s.forwardInterrupts(ctx, r.processes, r.terminal)
	results := o.graph.Run(ctx, graphOptions, r.node)
	stop()
	summary := render.Summary{View: o.view(false), Command: options.command, Results: results, Times: r.times, Sequence: sequence}
	s.note("%s", summary.Text())
	if options.report != "" {
		if err := writeRunReport(string(options.report), summary); err != nil {
			return 0, fail("Report cannot be written", "The results cannot be written to %s: %s.", options.report, reason(err))
		}
	}
	if summary.OK() {
		return exitOK, nil
	}
	return exitError, nil
}

// node does the work of one node, once more after each failure as often as it may.
func (r *nodesRun) node(ctx context.Context, n int) error {
	work := r.work(n)
	out := r.output.Node(r.ordering.name(n))
	r.times[n].Started = time.Now()
	err := r.run(ctx, work, out)
	r.times[n].Ended = time.Now()
	if errors.Is(err, process.ErrStopped) {
		err = order.ErrNotStarted
	}
	return errors.Join(err, out.Close())
}

func (r *nodesRun) run(ctx context.Context, work nodeWork, out *render.NodeOutput) error {
	start := func(command process.Command) error {
		command.Stdout, command.Stderr, command.Foreground = out.Out, out.Err, r.terminal && command.Timeout == 0
		if file, ok := r.session.streams.In.(*os.File); ok && r.options.parallel == 1 && (command.Foreground || !r.terminal) {
			command.Stdin = file
		}
		return r.processes.Run(command)
	}
	for try := 0; ; try++ {
		err := start(work.command)
		if err == nil {
			break
		}
		if try == work.retries || errors.Is(err, process.ErrStopped) || ctx.Err() != nil {
			return err
		}
		if _, err := fmt.Fprintf(out.Err, "%s; trying again (%d of %d)\n", upperFirst(err.Error()), try+1, work.retries); err != nil {
			return err
		}
		select {
		case <-time.After(work.interval):
		case <-ctx.Done():
			return err
		}
	}
	if work.reaction == nil {
		return nil
	}
	return start(*work.reaction)
}

// runPlugins runs the shell tasks of plugins.
func (s *session) runPlugins(ctx context.Context, options runOptions) (int, error) {
	if err := options.checkNumbers(); err != nil {
		return 0, err
	}
	switch t := options.tree; {
	case len(options.command) > 0:
		return 0, fail("Too many arguments", "Tasks of plugins say themselves what is run: leave out the command %q.", commandLine(options.command))
	case options.reverse:
		return 0, fail("Options contradict", "Tasks of plugins have no reverse order. Leave out -reverse.")
	case t.changed || t.base != "" || len(t.tags) > 0 || len(t.noTags) > 0:
		return 0, fail("Options contradict", "The options -changed, -base, -tags and -no-tags are about stacks. Tasks of plugins are selected by -role.")
	}
	tasks, selected, diags, err := loadPlugins(options.tree.plugins)
	if err != nil {
		return 0, err
	}
	graph := stage.Graph(tasks)
	o := &ordering{graph: graph, rule: order.ByQueue, selected: selected, name: func(n int) string { return tasks[n].Name() }, diags: diags}
	decide := func(n int, _ func(int) order.Result) order.Result {
		if tasks[n].Type == stage.Shell {
			return order.Result{}
		}
		return order.Result{State: order.Passed, Err: fmt.Errorf("cairn runs tasks of type shell only; carry out this %s task in another way", tasks[n].Type)}
	}
	return s.runNodes(ctx, o, options, order.RunOptions{Parallel: options.parallel, Decide: decide}, func(n int) nodeWork {
		task := tasks[n]
		if task.Type != stage.Shell {
			return nodeWork{shown: []string{string(task.Type) + ",", "not", "run", "by", "cairn"}}
		}
		return nodeWork{
			shown:   []string{"/bin/sh", "-c", task.Command},
			command: process.Command{Program: "/bin/sh", Args: []string{"-c", task.Command}, Dir: task.Dir, Timeout: task.Timeout},
		}
	})
}

// runWorkspace runs a command in the stacks of a workspace, and its tasks.
func (s *session) runWorkspace(ctx context.Context, w *openedWorkspace, options runOptions) (int, error) {
	if w.changes != nil && !options.dryRun {
		if err := options.checkDirty(ctx, w.changes.repository); err != nil {
			return 0, err
		}
	}
	o := w.ordering
	done := make([]bool, w.Len()) // what has run counts as changed
	changed := func(n int) bool { return done[n] }
	if options.parallelOption == 0 && w.Model.Parallel > 0 {
		options.parallel = w.Model.Parallel
	}
	graphOptions := order.RunOptions{Parallel: options.parallel, Limits: w.Limits(), Decide: w.Decide(changed)}
	if options.reverse {
		// What tasks do is not undone by doing it once more.
		o.graph, graphOptions.Decide = o.graph.Reverse(), nil
		o.selected = slices.Clone(o.selected)
		for n, step := range w.Steps {
			o.selected[n] = o.selected[n] && step.Leaf.Stack != nil
		}
	}
	return s.runNodes(ctx, &o, options, graphOptions, func(n int) nodeWork {
		leaf := w.Steps[n].Leaf
		done[n] = true // read only by what waits for it, and then only if it has succeeded
		if leaf.Task != nil {
			return w.taskWork(leaf, w.Reacts(n, changed))
		}
		return w.stackWork(leaf, options)
	})
}

func (w *openedWorkspace) stackWork(leaf *workspace.Leaf, options runOptions) nodeWork {
	env := append(os.Environ(), "CAIRN_STACK="+leaf.Name, "CAIRN_DEPLOYMENT="+leaf.Stack.Deployment)
	for name, value := range leaf.Variables {
		env = append(env, "TF_VAR_"+name+"="+value)
	}
	return nodeWork{
		shown:   options.command,
		command: process.Command{Program: options.program, Args: options.command[1:], Dir: w.dir(leaf), Env: env},
	}
}

func (w *openedWorkspace) taskWork(leaf *workspace.Leaf, reacts bool) nodeWork {
	env := os.Environ()
	for name, value := range leaf.Variables {
		env = append(env, name+"="+value)
	}
	command := func(words []string) process.Command {
		return process.Command{Program: words[0], Args: words[1:], Dir: w.dir(leaf), Env: env, Timeout: leaf.Task.Timeout}
	}
	work := nodeWork{shown: leaf.Task.Command, command: command(leaf.Task.Command), retries: leaf.Task.Retries, interval: leaf.Task.Interval}
	if reacts && leaf.Task.Reaction != nil {
		reaction := command(leaf.Task.Reaction)
		work.reaction = &reaction
	}
	return work
}

func (w *openedWorkspace) dir(leaf *workspace.Leaf) string {
	return filepath.Join(w.root, filepath.FromSlash(directoryOf(leaf)))
}
