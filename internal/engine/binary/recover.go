// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/engine/binary/crash"
	"github.com/cairnstacks/cairn/internal/engine/withheld"

	"github.com/cairnstacks/cairn/internal/engine/binary/rundir"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/statewatch"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// leftRun is the directory of an apply whose program is not alive, locked by this session.
type leftRun struct {
	dir       *rundir.Dir
	record    rundir.Record
	recovered *engine.Recovered // once it was resumed
}

var (
	_ engine.Recoverer = (*Session)(nil)
	_ engine.Keeper    = (*Session)(nil)
)

// Bind implements [engine.Recoverer].
func (e *Session) Bind(purpose engine.Purpose) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.purpose = purpose
}

func (e *Session) sign(record rundir.Record) rundir.Record {
	e.mu.Lock()
	defer e.mu.Unlock()
	record.Plan, record.Serial = e.mu.purpose.Plan, e.mu.purpose.Serial
	return record.Signed(e.mu.purpose.Secret)
}

func (e *Session) isSigned(record rundir.Record) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return record.IsSigned(e.mu.purpose.Secret)
}

// recorded names the records of which the state knows, which are of another engine.
func (e *Session) recorded() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mu.purpose.Recorded
}

// Record implements [engine.Recoverer]: each piece of work has a record in a directory of its own.
func (e *Session) Record(context.Context, func(context.Context, []byte) error) (string, error) {
	return "", nil
}

// Unfinished implements [engine.Recoverer].
func (e *Session) Unfinished(context.Context) ([]engine.UnfinishedWork, error) {
	paths, err := rundir.List(e.runsDir)
	if err != nil {
		return nil, fmt.Errorf("looking for interrupted applies: %w", err)
	}
	var unfinished []engine.UnfinishedWork
	var errs []error
	for _, recorded := range e.recorded() {
		errs = append(errs, fmt.Errorf("an apply by the native engine was cut off, with the journal %s: recover it with that engine "+
			"or with auto", recorded))
	}
	for _, path := range paths {
		one, err := e.findLeft(path)
		if err != nil {
			errs = append(errs, inRun(path, err))
		}
		if one != nil {
			unfinished = append(unfinished, *one)
		}
	}
	slices.SortStableFunc(unfinished, func(a, b engine.UnfinishedWork) int { return strings.Compare(a.Component, b.Component) })
	return unfinished, errors.Join(errs...)
}

func inRun(path string, err error) error {
	return fmt.Errorf("recovering from an interrupted apply in %s: %w", filepath.Base(path), err)
}

// findLeft takes over the directory of an apply. It returns nil if there is nothing to recover.
func (e *Session) findLeft(path string) (_ *engine.UnfinishedWork, err error) {
	dir, err := rundir.Lock(path)
	if err != nil || dir == nil { // nil: its program is alive
		return nil, err
	}
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, dir.Close())
		}
	}()
	record, err := dir.ReadRecord()
	if errors.Is(err, os.ErrNotExist) {
		keep = true // it is closed there
		return nil, e.removeRemains(dir)
	}
	if err != nil {
		return nil, err
	}
	found := &engine.UnfinishedWork{
		Work: record.WorkIn(path), Component: record.Component, Mode: record.Mode, StartedAt: record.StartedAt,
		Foreign: !e.isSigned(record), Place: path, StateFile: dir.File(rundir.GoodFile),
	}
	if found.Foreign {
		return found, nil
	}
	if process, err := runner.ReadRun(path); err == nil && process.Running() {
		found.Running, found.PID = true, process.PID
	}
	keep = true
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.left[found.Work] = &leftRun{dir: dir, record: record}
	return found, nil
}

// left returns a run that Unfinished has found.
func (e *Session) left(work engine.WorkID) (*leftRun, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	found, ok := e.mu.left[work]
	if !ok {
		return nil, engine.ErrUnknownWork
	}
	return found, nil
}

func (e *Session) dropLeft(work engine.WorkID) (*leftRun, error) {
	found, err := e.left(work)
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.mu.left, work)
	return found, err
}

// Resume implements [engine.Recoverer].
func (e *Session) Resume(ctx context.Context, work engine.WorkID, after engine.Position,
	observe engine.Observer,
) (*engine.Recovered, error) {
	run, err := e.left(work)
	if err != nil {
		return nil, err
	}
	working, picked := e.works.PickUp(ctx, work)
	recovered, err := e.resume(working, run, after, observe)
	picked.End()
	if err != nil {
		return nil, inRun(run.dir.Path(), errors.Join(err, e.Leave(ctx, work)))
	}
	if recovered == nil { // and the directory is gone
		_, err := e.dropLeft(work)
		return nil, err
	}
	recovered.Work, run.recovered = work, recovered
	snapshot := *recovered
	return &snapshot, nil
}

// resume returns nil, and has removed the directory, if nothing was done.
func (e *Session) resume(ctx context.Context, run *leftRun, after engine.Position, observe engine.Observer) (*engine.Recovered, error) {
	said, err := run.dir.ReadReport()
	if said != nil {
		err = run.dir.FinishRetiring()
	}
	if said != nil || err != nil {
		return said, err
	}
	if !filepath.IsLocal(run.record.Root) {
		return nil, fmt.Errorf("reading the record of an apply: the working copy %q is not in its directory", run.record.Root)
	}
	return e.recoverApply(ctx, run.dir, run.record, after, observe)
}

// markSaved keeps the messages about the apply. From then on the component can be planned and
// applied.
func (r *leftRun) markSaved() error {
	if r.recovered == nil || r.recovered.Saved {
		return nil
	}
	r.recovered.Saved = true
	return r.dir.Retire(r.report())
}

func (r *leftRun) report() rundir.Report {
	said := r.recovered
	return rundir.Report{
		Component: said.Component, Mode: said.Mode, Doubts: said.Doubts, Lost: said.Lost, Seen: said.Seen,
		Diagnostics: rundir.Diagnostics(said.Diagnostics),
	}
}

// MarkSeen implements [engine.Recoverer].
func (e *Session) MarkSeen(_ context.Context, work engine.WorkID) error {
	run, err := e.left(work)
	if err != nil || run.recovered == nil || run.recovered.Seen || !run.recovered.Saved || !run.recovered.IsDoubtful() {
		return err
	}
	shown := run.report()
	shown.Seen = true
	return run.dir.WriteReport(shown)
}

// Forget implements [engine.Recoverer].
func (e *Session) Forget(_ context.Context, work engine.WorkID) error {
	run, err := e.dropLeft(work)
	if err != nil {
		return err
	}
	return run.dir.Remove()
}

// Leave implements [engine.Recoverer].
func (e *Session) Leave(_ context.Context, work engine.WorkID) error {
	run, err := e.dropLeft(work)
	if err != nil {
		return err
	}
	return run.dir.Close()
}

// Kept implements [engine.Keeper].
func (e *Session) Kept(_ context.Context, secret []byte) ([]string, error) {
	return rundir.Unrecovered(e.runsDir, secret), nil
}

// recoverApply returns nil, and has removed the directory, if nothing was done.
func (e *Session) recoverApply(ctx context.Context, dir *rundir.Dir, record rundir.Record, after engine.Position,
	observe engine.Observer,
) (*engine.Recovered, error) {
	watch, err := statewatch.Resume(dir, dir.StateFile(record))
	if err != nil {
		return nil, err
	}
	outputs, hidden := runner.ProvisionerOutputs{}, withheld.NewStateFilter(watch.Prior())
	outcome, err := awaitProcess(ctx, dir.Path(), func(ev runner.Event) {
		watch.Event(ev)
		outputs.Event(ev)
		if out, ok := progress(ev, applyEvents); ok && out.Position > after {
			observe.Observe(hidden.Event(out))
		}
	})
	if err != nil {
		return nil, err
	}
	lost, err := lostOf(dir, record)
	if err != nil {
		return nil, err
	}
	if outcome == nil {
		untouched, err := dir.IsUntouched(record)
		if err != nil {
			return nil, err
		}
		if untouched && lost == "" {
			return nil, dir.Remove()
		}
		outcome = &runner.Result{Outcome: runner.OutcomeDied, ExitCode: runner.ExitUnknown}
	}
	one := &engine.Recovered{Component: record.Component, Mode: record.Mode, Plan: record.Plan, Serial: record.Serial, Lost: lost}
	one.Diagnostics = (&workcopy.Copy{}).Diagnostics(outcome.Diagnostics)
	outputs.Hide(one.Diagnostics)
	if outcome.Outcome == runner.OutcomeDied {
		one.Diagnostics = one.Diagnostics.Append(e.died("Component partly applied", outcome))
	}
	state, doubts, doubt := watch.Final(outcome)
	one.State, one.Doubts = state, crash.Addresses(doubts)
	if doubt != nil {
		one.Diagnostics = one.Diagnostics.Append(doubt)
	}
	one.Diagnostics = hidden.Diagnostics(one.Diagnostics, []engine.State{one.State})
	return one, nil
}

// lostOf names, as a sentence without a full stop, the events that are lost of a process that was
// started in a directory.
func lostOf(dir *rundir.Dir, record rundir.Record) (string, error) {
	mayHaveBegun, err := dir.MayHaveBegun(record)
	if err != nil {
		return "", err
	}
	run, err := runner.ReadRun(dir.Path())
	if errors.Is(err, os.ErrNotExist) {
		if mayHaveBegun {
			return "The directory " + dir.Path() + " has lost the identity of its process", nil
		}
		return "", nil // none was started
	}
	if err != nil {
		return "", err
	}
	lost, err := run.Lost(mayHaveBegun)
	if lost == "" {
		return "", err
	}
	return "The directory " + dir.Path() + " " + lost, nil
}

// awaitProcess waits for the end of the process of a run. Returns nil if nothing is known to have
// been done: the program was killed before it started a process, or the process before it said
// anything.
func awaitProcess(ctx context.Context, runDir string, onEvent func(runner.Event)) (*runner.Result, error) {
	process, err := runner.Attach(runDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	silent := true
	outcome, err := process.Wait(ctx, func(ev runner.Event) {
		silent = false
		onEvent(ev)
	})
	if err == nil && silent && outcome.Outcome == runner.OutcomeDied {
		outcome = nil
	}
	return outcome, err
}

// removeRemains removes the directory that a killed program left of a run that changed nothing.
func (e *Session) removeRemains(dir *rundir.Dir) error {
	if dir.IsAlive() {
		return dir.Close() // it writes there still
	}
	return dir.Remove()
}
