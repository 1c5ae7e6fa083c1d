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

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Recovered is what an apply left behind whose program was killed, or whose engine was.
type Recovered struct {
	Component string // address of the component instance
	Mode      engine.Mode
	State     engine.State // the newest; empty if it is saved

	// Plan and Serial are those of its [Purpose], unless it is saved.
	Plan   string
	Serial int64

	// Saved says that the state was saved before. What is left is to say what went wrong, and for Doubts to be cleared up.
	Saved bool

	// Doubts are the resource instances that were being changed, or have been, while the state may not show what came of it,
	// by their addresses in the component. Planning may make such a change once more.
	Doubts []string

	// Seen says that the doubts were shown by an earlier program.
	Seen bool

	// Diagnostics are what the engine had to say, and what may be missing from the state.
	Diagnostics hcl.Diagnostics

	dir *runDir
}

// MarkSaved says that the state was saved. From then on the component can be planned and applied; what was said of
// the apply is kept until Done.
func (r *Recovered) MarkSaved() error {
	if r.Saved {
		return nil
	}
	r.Saved = true
	return r.dir.retire(r.report())
}

func (r *Recovered) report() report {
	return report{Component: r.Component, Mode: r.Mode, Doubts: r.Doubts, Seen: r.Seen, Diagnostics: storedDiagnostics(r.Diagnostics)}
}

// MarkSeen says to later programs that the doubts were shown. Seen stays what it is for this one.
func (r *Recovered) MarkSeen() error {
	if r.Seen || !r.Saved || len(r.Doubts) == 0 {
		return nil
	}
	shown := r.report()
	shown.Seen = true
	return r.dir.writeReport(shown)
}

// Done says that nobody needs to hear of the apply any more, and removes what was left behind.
func (r *Recovered) Done() error { return r.dir.remove() }

// Keep leaves everything in place, for another program.
func (r *Recovered) Keep() error { return r.dir.close() }

// Recover finds the applies whose program was killed. Where the engine's process is still running, Recover
// waits for it; ending ctx then interrupts it, as it does for [Session.Apply]. Applies that were recovered before are among the results
// until Done was called for them.
//
// The caller must call Done or Keep for each result. They are sorted by component. Results are returned beside an error.
//
// Errors: also an [*UnknownRunError], joined with others, for each run that the state doesn't know.
func (e *Session) Recover(ctx context.Context) ([]*Recovered, error) {
	entries, err := os.ReadDir(e.runsDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err := errors.Join(err, noLink(e.runsDir)); err != nil {
		return nil, fmt.Errorf("looking for interrupted applies: %w", err)
	}
	var recovered []*Recovered
	var errs []error
	for _, entry := range entries {
		path := filepath.Join(e.runsDir, entry.Name())
		if _, err := os.Lstat(filepath.Join(path, lockFile)); err != nil || !entry.IsDir() {
			continue // not made by newRunDir
		}
		one, err := e.recoverRun(ctx, path)
		if err != nil {
			errs = append(errs, fmt.Errorf("recovering from an interrupted apply in %s: %w", entry.Name(), err))
		}
		if one != nil {
			recovered = append(recovered, one)
		}
	}
	slices.SortStableFunc(recovered, func(a, b *Recovered) int { return strings.Compare(a.Component, b.Component) })
	return recovered, errors.Join(errs...)
}

// Interrupted returns the components, sorted, of the applies below a directory for runs that were begun with the state of a secret and that
// are still to be recovered into it. It waits for nobody and changes nothing. What cannot be read is for [Session.Recover] to report.
func Interrupted(runsDir string, secret []byte) []string {
	paths, err := filepath.Glob(filepath.Join(runsDir, "*", applyFile))
	if err != nil || secret == nil { // without one the state has begun nothing
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

// recoverRun returns nil if there is nothing to recover.
func (e *Session) recoverRun(ctx context.Context, path string) (_ *Recovered, err error) {
	dir, err := lockRunDir(path)
	if err != nil || dir == nil { // nil: its program is alive
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, dir.close())
		}
	}()
	data, err := os.ReadFile(dir.file(applyFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, e.removeRemains(dir)
	}
	if err != nil {
		return nil, err
	}
	var record applyRecord
	if err := json.Unmarshal(data, &record); err != nil {
		return nil, fmt.Errorf("reading the record of an apply: %w", err)
	}
	if !e.isSigned(record) {
		return nil, &UnknownRunError{Dir: path, Component: record.Component, StateFile: dir.file(goodFile)}
	}
	said, err := dir.readReport()
	if said != nil && !isRetired(path) { // killed in between
		err = errors.Join(dir.reduce(), dir.makeRoom())
	}
	if said != nil || err != nil {
		return said, err
	}
	if !filepath.IsLocal(record.Root) {
		return nil, fmt.Errorf("reading the record of an apply: the working copy %q is not in its directory", record.Root)
	}
	return e.recoverApply(ctx, dir, record)
}

// recoverApply returns nil, and has removed the directory, if nothing was done.
func (e *Session) recoverApply(ctx context.Context, dir *runDir, record applyRecord) (*Recovered, error) {
	watch, err := watchAgain(dir, dir.stateFile(record))
	if err != nil {
		return nil, err
	}
	outputs := provisionerOutputs{}
	outcome, err := awaitProcess(ctx, dir.path, func(ev runner.Event) {
		watch.event(ev)
		outputs.event(ev)
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
	one := &Recovered{Component: record.Component, Mode: record.Mode, Plan: record.Plan, Serial: record.Serial, dir: dir}
	one.Diagnostics = (&workcopy.Copy{}).Diagnostics(outcome.Diagnostics)
	outputs.hide(one.Diagnostics)
	if outcome.Outcome == runner.OutcomeDied {
		one.Diagnostics = one.Diagnostics.Append(e.died("Component partly applied", outcome))
	}
	state, doubts, lost := watch.final(outcome)
	one.State, one.Doubts = state, addresses(doubts)
	if lost != nil {
		one.Diagnostics = one.Diagnostics.Append(lost)
	}
	one.Diagnostics = recoveredSecrets(watch.prior).diagnostics(one.Diagnostics, []engine.State{one.State})
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

// RunningApply is an apply of which the engine's process is running.
type RunningApply struct {
	Component string
	PID       int // 0 if it is not known
}

// RunningApplies returns those below a directory for runs, in the order of their directories. What cannot be read is for [Session.Recover] to report.
func RunningApplies(runsDir string) []RunningApply {
	paths, err := filepath.Glob(filepath.Join(runsDir, "*", applyFile))
	if err != nil {
		return nil
	}
	var running []RunningApply
	for _, path := range paths {
		process, err := runner.ReadRun(filepath.Dir(path))
		if err != nil || !process.Running() {
			continue
		}
		var record applyRecord
		data, err := os.ReadFile(path)
		if err == nil && json.Unmarshal(data, &record) == nil {
			running = append(running, RunningApply{record.Component, process.PID})
		}
	}
	return running
}
