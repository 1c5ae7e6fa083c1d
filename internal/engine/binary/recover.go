// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/engine/binary/crash"
	"github.com/cairnstacks/cairn/internal/engine/binary/secrets"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// leftRun is the directory of an apply whose program is not alive, locked by this session.
type leftRun struct {
	dir       *runDir
	record    applyRecord
	recovered *engine.Recovered // once it was resumed
}

var (
	_ engine.Recoverer = (*Session)(nil)
	_ engine.Keeper    = (*Session)(nil)
)

// Unfinished implements [engine.Recoverer].
func (e *Session) Unfinished(context.Context) ([]engine.UnfinishedWork, error) {
	entries, err := os.ReadDir(e.runsDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err := errors.Join(err, noLink(e.runsDir)); err != nil {
		return nil, fmt.Errorf("looking for interrupted applies: %w", err)
	}
	var unfinished []engine.UnfinishedWork
	var errs []error
	for _, entry := range entries {
		path := filepath.Join(e.runsDir, entry.Name())
		if _, err := os.Lstat(filepath.Join(path, lockFile)); err != nil || !entry.IsDir() {
			continue // not made by newRunDir
		}
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
	dir, err := lockRunDir(path)
	if err != nil || dir == nil { // nil: its program is alive
		return nil, err
	}
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, dir.close())
		}
	}()
	data, err := os.ReadFile(dir.file(applyFile))
	if errors.Is(err, os.ErrNotExist) {
		keep = true // it is closed there
		return nil, e.removeRemains(dir)
	}
	if err != nil {
		return nil, err
	}
	var record applyRecord
	if err := json.Unmarshal(data, &record); err != nil {
		return nil, fmt.Errorf("reading the record of an apply: %w", err)
	}
	found := &engine.UnfinishedWork{
		Work: record.work(path), Component: record.Component, Mode: record.Mode, StartedAt: record.StartedAt,
		Foreign: !e.isSigned(record), Place: path, StateFile: dir.file(goodFile),
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

// work returns the name of the apply. Earlier versions of cairn have not recorded it.
func (r applyRecord) work(path string) engine.WorkID {
	if r.Work == "" {
		return engine.WorkID("run/" + filepath.Base(path))
	}
	return r.Work
}

// left returns what Unfinished has found.
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
func (e *Session) Resume(ctx context.Context, work engine.WorkID, after engine.Position, observe engine.Observer) (*engine.Recovered, error) {
	run, err := e.left(work)
	if err != nil {
		return nil, err
	}
	working, picked := e.works.PickUp(ctx, work)
	recovered, err := e.resume(working, run, after, observe)
	picked.End()
	if err != nil {
		return nil, inRun(run.dir.path, errors.Join(err, e.Leave(ctx, work)))
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
	said, err := run.dir.readReport()
	if said != nil && !isRetired(run.dir.path) { // killed in between
		err = errors.Join(run.dir.reduce(), run.dir.makeRoom())
	}
	if said != nil || err != nil {
		return said, err
	}
	if !filepath.IsLocal(run.record.Root) {
		return nil, fmt.Errorf("reading the record of an apply: the working copy %q is not in its directory", run.record.Root)
	}
	return e.recoverApply(ctx, run.dir, run.record, after, observe)
}

// markSaved keeps what was said about the apply. From then on the component can be planned and applied.
func (r *leftRun) markSaved() error {
	if r.recovered == nil || r.recovered.Saved {
		return nil
	}
	r.recovered.Saved = true
	return r.dir.retire(r.report())
}

func (r *leftRun) report() report {
	said := r.recovered
	return report{Component: said.Component, Mode: said.Mode, Doubts: said.Doubts, Seen: said.Seen, Diagnostics: storedDiagnostics(said.Diagnostics)}
}

// MarkSeen implements [engine.Recoverer].
func (e *Session) MarkSeen(_ context.Context, work engine.WorkID) error {
	run, err := e.left(work)
	if err != nil || run.recovered == nil || run.recovered.Seen || !run.recovered.Saved || len(run.recovered.Doubts) == 0 {
		return err
	}
	shown := run.report()
	shown.Seen = true
	return run.dir.writeReport(shown)
}

// Forget implements [engine.Recoverer].
func (e *Session) Forget(_ context.Context, work engine.WorkID) error {
	run, err := e.dropLeft(work)
	if err != nil {
		return err
	}
	return run.dir.remove()
}

// Leave implements [engine.Recoverer].
func (e *Session) Leave(_ context.Context, work engine.WorkID) error {
	run, err := e.dropLeft(work)
	if err != nil {
		return err
	}
	return run.dir.close()
}

// Kept implements [engine.Keeper].
func (e *Session) Kept(_ context.Context, secret []byte) ([]string, error) {
	return keptRuns(e.runsDir, secret), nil
}

// keptRuns returns the components, sorted, of the applies below a directory for runs that are still to be recovered into the state of a secret.
func keptRuns(runsDir string, secret []byte) []string {
	paths, err := filepath.Glob(filepath.Join(runsDir, "*", applyFile))
	if err != nil || runsDir == "" || secret == nil { // without one the state has begun nothing
		return nil
	}
	var components []string
	for _, path := range paths {
		var record applyRecord
		data, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(data, &record) != nil || !record.isSigned(secret) {
			continue
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), reportFile)); err != nil { // else the state is saved
			components = append(components, record.Component)
		}
	}
	slices.Sort(components)
	return slices.Compact(components)
}

// recoverApply returns nil, and has removed the directory, if nothing was done.
func (e *Session) recoverApply(ctx context.Context, dir *runDir, record applyRecord, after engine.Position, observe engine.Observer) (*engine.Recovered, error) {
	watch, err := watchAgain(dir, dir.stateFile(record))
	if err != nil {
		return nil, err
	}
	outputs, hidden := secrets.ProvisionerOutputs{}, secrets.NewStateFilter(watch.prior)
	outcome, err := awaitProcess(ctx, dir.path, func(ev runner.Event) {
		watch.event(ev)
		outputs.Event(ev)
		if out, ok := progress(ev, applyEvents); ok && out.Position > after {
			observe.Observe(hidden.Event(out))
		}
	})
	if err != nil {
		return nil, err
	}
	if outcome == nil {
		untouched, err := dir.isUntouched(record)
		if err != nil {
			return nil, err
		}
		if untouched {
			return nil, dir.remove()
		}
		outcome = &runner.Result{Outcome: runner.OutcomeDied, ExitCode: runner.ExitUnknown}
	}
	one := &engine.Recovered{Component: record.Component, Mode: record.Mode, Plan: record.Plan, Serial: record.Serial}
	one.Diagnostics = (&workcopy.Copy{}).Diagnostics(outcome.Diagnostics)
	outputs.Hide(one.Diagnostics)
	if outcome.Outcome == runner.OutcomeDied {
		one.Diagnostics = one.Diagnostics.Append(e.died("Component partly applied", outcome))
	}
	state, doubts, lost := watch.final(outcome)
	one.State, one.Doubts = state, crash.Addresses(doubts)
	if lost != nil {
		one.Diagnostics = one.Diagnostics.Append(lost)
	}
	one.Diagnostics = hidden.Diagnostics(one.Diagnostics, []engine.State{one.State})
	return one, nil
}

// awaitProcess waits for the end of the process of a run. Returns nil if nothing is known to have been done: the program was killed
// before it started a process, or the process before it said anything.
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

// removeRemains removes what a killed program left of a run that changed nothing.
func (e *Session) removeRemains(dir *runDir) error {
	if dir.isAlive() {
		return dir.close() // it writes there still
	}
	return dir.remove()
}
