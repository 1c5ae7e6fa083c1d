// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package statewatch follows the state of a component while a process of an engine writes it: it
// keeps the newest one that could be read, reports which objects have changed, and after the end
// the changes that the state may not show.
package statewatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/engine/binary/crash"
	"github.com/cairnstacks/cairn/internal/engine/binary/rundir"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/safefile"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Watch keeps the newest state that could be read while a process writes it: a process that is
// killed may leave an empty file. It is for one goroutine at a time.
type Watch struct {
	dir     *rundir.Dir
	file    string          // that the process writes
	observe engine.Observer // of changes of objects
	line    int64           // of the last event

	prior   engine.State      // from before the process
	good    engine.State      // newest state that could be read, cleaned
	shown   *tfstate.Document // the observer's view; nil without one
	seen    fileVersion       // of the file when it was read
	readAt  time.Time
	cost    time.Duration // of the last look
	changes crash.Log
}

type fileVersion struct {
	size    int64
	modTime time.Time
}

type objectKey struct {
	addr    stackaddrs.ResourceInstance
	deposed stackaddrs.DeposedKey
}

// objectsByKey returns the objects of a state.
func objectsByKey(doc *tfstate.Document) map[objectKey]tfstate.Entry {
	objects := make(map[objectKey]tfstate.Entry, len(doc.Entries()))
	for _, entry := range doc.Entries() {
		objects[objectKey{entry.Addr, entry.Deposed}] = entry
	}
	return objects
}

// Begin starts from the state before the process, of which it keeps copies in the directory of the
// run. The process writes to the file. The observer is told of changed objects; it may be nil.
func Begin(dir *rundir.Dir, file string, prior *tfstate.Document, observe engine.Observer) (*Watch, error) {
	w := &Watch{dir: dir, file: file, observe: observe, prior: prior.Bytes(), good: prior.Bytes(), shown: prior}
	for _, name := range []string{rundir.PriorFile, rundir.GoodFile} {
		if err := safefile.Replace(dir.File(name), w.prior, 0o600); err != nil {
			return nil, fmt.Errorf("keeping a copy of the state: %w", err)
		}
	}
	return w, nil
}

// Resume goes on where a program that was killed has left off. Nobody is told of changed objects.
//
// Errors: [os.ErrNotExist] if that program has not begun to watch.
func Resume(dir *rundir.Dir, file string) (*Watch, error) {
	w := &Watch{dir: dir, file: file}
	var err error
	if w.good, err = os.ReadFile(dir.File(rundir.GoodFile)); err != nil {
		return nil, err
	}
	if w.prior, err = os.ReadFile(dir.File(rundir.PriorFile)); errors.Is(err, os.ErrNotExist) {
		w.prior, err = w.good, nil // of an earlier version of cairn
	}
	return w, err
}

// Event looks at the state if something may have changed there.
func (w *Watch) Event(ev runner.Event) {
	w.changes.Event(ev)
	w.line = ev.Line
	// A large state is not read anew for each of many small resources.
	if time.Since(w.readAt) > 20*w.cost {
		w.look()
	}
}

// Prior returns the state from before the process.
func (w *Watch) Prior() engine.State { return w.prior }

// look reads the state if it was written since the last time. A state that can't be read is one
// that is just being written.
func (w *Watch) look() {
	start := time.Now()
	stat, err := os.Stat(w.file)
	if err != nil {
		return
	}
	version := fileVersion{stat.Size(), stat.ModTime()}
	if version == w.seen {
		return
	}
	state, err := readState(w.file)
	if err != nil {
		return
	}
	w.seen = version
	w.accept(state)
	w.readAt = time.Now()
	w.cost = time.Since(start)
}

// errNoState is the error for a file without anything in it.
var errNoState = errors.New("there is no state")

// readState reads a state that an engine has written, and cleans it.
func readState(file string) (*tfstate.Document, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseState(data)
}

func parseState(data []byte) (*tfstate.Document, error) {
	state, err := tfstate.Parse(data)
	if err != nil {
		return nil, err
	}
	if state.IsEmpty() {
		return nil, errNoState
	}
	return workcopy.CleanState(state)
}

func (w *Watch) accept(doc *tfstate.Document) {
	state := doc.Bytes()
	if string(state) == string(w.good) {
		return
	}
	w.good = state
	_ = safefile.Replace(w.dir.File(rundir.GoodFile), state, 0o600) //nolint:errcheck // a recovery has the process's own file, too
	w.report(doc)
}

// report calls the observer with the objects that have changed.
func (w *Watch) report(now *tfstate.Document) {
	if w.observe == nil {
		return
	}
	before, after := objectsByKey(w.shown), objectsByKey(now)
	send := func(entry tfstate.Entry, text json.RawMessage) {
		w.observe(engine.Event{
			Type: engine.ObjectChanged, Position: engine.Position(w.line), Resource: entry.Addr.String(),
			Object: &engine.ObjectChange{Addr: entry.Addr, Deposed: entry.Deposed, Entry: text},
		})
	}
	for _, entry := range w.shown.Entries() {
		if _, stays := after[objectKey{entry.Addr, entry.Deposed}]; !stays {
			send(entry, nil)
		}
	}
	for _, entry := range now.Entries() {
		if earlier, existed := before[objectKey{entry.Addr, entry.Deposed}]; !existed || !earlier.Equal(entry) {
			send(entry, entry.AppendJSON(nil))
		}
	}
	w.shown = now
}

// Final returns the newest state after the process has ended, and the changes that it may not show.
// With those, or if the state is not the process's last one, there is a diagnostic.
func (w *Watch) Final(outcome *runner.Result) (engine.State, []crash.Doubt, *hcl.Diagnostic) {
	w.look()

	_, err := readState(w.file)
	never := errors.Is(err, errNoState) && len(w.good) == 0 && !w.changes.AnyFinished() // nothing was done
	intact := err == nil || never
	if state, err := readState(rundir.EmergencyState(w.file)); err == nil {
		w.accept(state)
		intact = true
	} else if state := printedState(outcome.Text); state != nil {
		w.accept(state)
		intact = true
	}
	doubts := w.changes.Crashed(outcome)
	if !intact || outcome.Outcome == runner.OutcomeDied || outcome.Outcome == runner.OutcomeFailed && !outcome.HasErrors() {
		// A process that was killed did not write its last changes; tofu writes a state from time to time
		// only.
		doubts = append(doubts, w.changes.Doubts(w.prior, w.good)...)
	}
	if intact && len(doubts) == 0 {
		return w.good, nil, nil
	}
	return w.good, doubts, crash.ExplainDoubts(doubts, intact)
}

// stateStart is how a state begins that the engine prints: as a document of its own, with the
// version first.
var stateStart = regexp.MustCompile(`(?m)^\s*\{\s*"version"\s*:`)

// printedStates is how many beginnings of states are looked at. Each may be read up to the end.
const printedStates = 16

// printedState finds a state among lines of output: the engine prints it if it can't write it, as
// the last that it does.
func printedState(text string) *tfstate.Document {
	starts := stateStart.FindAllStringIndex(text, -1)
	for _, at := range slices.Backward(starts[max(0, len(starts)-printedStates):]) {
		var document json.RawMessage
		if json.NewDecoder(strings.NewReader(text[at[0]:])).Decode(&document) != nil {
			continue
		}
		if state, err := parseState(document); err == nil {
			return state
		}
	}
	return nil
}
