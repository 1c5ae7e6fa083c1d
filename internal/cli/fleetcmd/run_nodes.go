// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/reportfile"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/show"
)

// nodeWork is the command to run for a node.
type nodeWork struct {
	process.Job
	shown []string // the command, for people
}

// nodesRun runs the commands of an ordering's nodes.
type nodesRun struct {
	session   *session.Session
	ordering  *ordering
	options   runOptions
	work      func(node int) nodeWork
	processes *process.Set
	display   *session.RunDisplay
	terminal  bool
	times     []show.Times // by node
}

// runStacks runs a command in the selected units, and the tasks among them.
func runStacks(ctx context.Context, s *session.Session, src *fleet.Source, options runOptions) (int, error) {
	if src.Work != nil {
		if err := checkStates(src.Work, false); err != nil {
			return 0, err
		}
	}
	o, err := orderingOf(src)
	if err != nil {
		return 0, err
	}
	of := src.Order
	if options.parallelOption == 0 && of.Parallel > 0 {
		options.parallel = of.Parallel
	}
	done := make([]bool, of.Graph.Len()) // nodes that have run count as changed
	changed := func(n int) bool { return done[n] }
	graphOptions := order.RunOptions{Parallel: options.parallel, Limits: of.Limits}
	switch {
	case options.reverse:
		// A task is not undone by running it once more.
		o.graph, o.selected = of.Graph.Reverse(), make(order.Selection, len(of.Steps))
		for n, step := range of.Steps {
			o.selected[n] = of.Selected.Has(n) && step.Unit != nil && step.Unit.Task == nil
		}
	case of.Conditions != nil:
		graphOptions.Decide = of.Conditions.Decide(changed)
	}
	return runNodes(ctx, s, o, options, graphOptions, func(n int) nodeWork {
		unit := of.Steps[n].Unit
		done[n] = true // read only by nodes that wait for it, and then only if it has succeeded
		return unitWork(unit, options, unit.Task != nil && of.Conditions.Reacts(n, changed))
	})
}

// unitWork returns the work in a unit: the command of a task, in everything else that of the user.
func unitWork(unit *fleet.Unit, options runOptions, reacts bool) nodeWork {
	env := append(os.Environ(), unit.Env...)
	if unit.Task != nil {
		return nodeWork{unit.Task.Job(unit.Dir, env, reacts), unit.Task.Command}
	}
	command := process.Command{Program: options.program, Args: options.command[1:], Dir: unit.Dir}
	if len(unit.Env) > 0 {
		command.Env = env
	}
	return nodeWork{shown: options.command, Job: process.Job{Command: command}}
}

// runNodes runs nodes in their order and sums up.
func runNodes(
	ctx context.Context,
	s *session.Session,
	o *ordering,
	options runOptions,
	graphOptions order.RunOptions,
	work func(node int) nodeWork,
) (int, error) {
	if err := s.Report(o.diags); err != nil {
		return 0, err
	}
	parallel := graphOptions.Parallel > 1
	r := &nodesRun{
		session: s, ordering: o, options: options, work: work, processes: &process.Set{}, terminal: !parallel && s.InputIsTerminal(),
		times: make([]show.Times, o.graph.Len()),
	}
	sequence := o.graph.Sequence(o.rule, o.selected)
	if len(sequence) == 0 {
		s.Note("There is nothing to run: %s\n", options.tree.nothing(""))
		if options.dryRun {
			return cmdline.ExitOK, nil
		}
		return cmdline.ExitOK, reportfile.Write(options.report, show.Summary{Command: options.command}, reportfile.ForAll)
	}
	if options.dryRun {
		for _, n := range sequence {
			s.Line("%s: %s", o.name(n), commandLine(work(n).shown))
		}
		return cmdline.ExitOK, nil
	}
	if o.repository != nil && !options.allowDirty {
		if err := refuseDirty(ctx, o.repository, nil); err != nil {
			return 0, err
		}
	}
	if err := reportfile.Check(options.report); err != nil {
		return 0, err
	}
	graphOptions.Selected, graphOptions.Rule = o.selected, o.rule
	graphOptions.FailFast, graphOptions.KeepGoing = options.fast, options.keepGoing
	r.display = s.NewRunDisplay(session.RunDisplayOptions{Title: "Running", Total: len(sequence), Parallel: parallel, Terminal: r.terminal})
	graphOptions.Ended = func(n int, result order.Result) { r.display.Ended(o.name(n), result) }
	ctx, stop := s.ForwardInterrupts(ctx, r.processes, r.terminal)
	var results []order.Result
	r.display.During(func() { results = o.graph.Run(ctx, graphOptions, r.node) })
	stop()
	summary := show.Summary{View: o.view(false), Command: options.command, Results: results, Times: r.times, Sequence: sequence}
	err := reportfile.Write(options.report, summary, reportfile.ForAll) // first, as the other one may find no reader any more
	s.Note("%s", summary.Text())
	if summary.OK() {
		return cmdline.ExitOK, err
	}
	return cmdline.ExitError, err
}

// node does the work of one node, once more after each failure as often as it may.
func (r *nodesRun) node(ctx context.Context, n int) error {
	work := r.work(n)
	out := r.display.Output.Node(r.ordering.name(n))
	r.times[n].Started = time.Now()
	err := r.run(ctx, work, out)
	r.times[n].Ended = time.Now()
	if errors.Is(err, process.ErrStopped) {
		err = order.ErrNotStarted
	}
	return errors.Join(err, out.Close())
}

func (r *nodesRun) run(ctx context.Context, work nodeWork, out *show.NodeOutput) error {
	job := work.Job
	job.Stdout, job.Stderr, job.Foreground = out.Out, out.Err, r.terminal && job.Timeout == 0
	if file, ok := r.session.Streams.In.(*os.File); ok && r.options.parallel == 1 && (job.Foreground || !r.terminal) {
		job.Stdin = file
	}
	return r.processes.RunJob(ctx, job)
}
