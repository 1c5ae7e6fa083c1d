// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Saver writes the changes of an apply into one serial, which it begins with the first change.
// Changes of several component instances may be saved at the same time; the methods for after the
// apply are for one caller.
type Saver struct {
	stored    *Stored
	operation string

	// plan is the identity of the saved plan that is applied, and empty for another one. Its progress
	// is written with the changes.
	plan string

	mu     sync.Mutex // guards the fields below; not held while the writer writes, which joins simultaneous writes
	writer statestore.Writer

	progress map[string][]byte // keys of all that is recorded of this plan or another one, each with nil
	ended    bool              // all of the plan was done

	// left are the records that could not be written, by component; those of root values have no name.
	// The evaluator makes all changes of a component from its last saved state, so a later one takes
	// the place of an earlier one, and none may be written once a later one was. Addresses that could
	// not be written come before all of them.
	left struct {
		unmoved map[string][]byte
		unsaved map[string]map[string][]byte
		lost    error // of a change that has no records
	}

	full bool // the disk is: nothing more was begun

	journal savedJournal

	// values are the root values, which are written at the end where others change other parts of the
	// state: outputs may be made of those, too.
	values map[string][]byte

	ending Ending // nil for none
}

// NewSaver returns a saver for an operation on a locked state that applies a plan: a saved one, of
// which this is the identity, or with "" another one. Nothing is written before the first change.
func NewSaver(stored *Stored, operation, plan string) *Saver {
	v := &Saver{stored: stored, operation: operation, plan: plan, progress: stored.operations.withoutOthers(stored.lock.locked(), "")}
	v.left.unsaved, v.journal.touched = map[string]map[string][]byte{}, map[string]bool{}
	return v
}

// Begin opens the serial before anything is done, with the name of the record in which the engine
// keeps that, "" for none, and the identity of the working directory if the state outlives that.
// Until [Saver.Finish], the state knows that it must be there.
func (v *Saver) Begin(ctx context.Context, journal, directory string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	record, err := json.Marshal(journalRecord{journal, directory, v.stored.lock.locked()})
	if err != nil {
		return err
	}
	v.journal.begun = true
	return v.write(ctx, map[string][]byte{v.journalKey(): record})
}

func (v *Saver) journalKey() string { return journalKind + v.stored.lock.Name() }

// AddToJournal keeps what the engine adds to its record, so that it is there for another machine if
// this one is lost. Calls do not overlap.
func (v *Saver) AddToJournal(ctx context.Context, content []byte) error {
	v.mu.Lock()
	if !v.journal.begun || v.journal.closed {
		v.mu.Unlock()
		return nil
	}
	key := fmt.Sprintf("%s%s %09d", linesKind, v.stored.lock.Name(), len(v.journal.lines))
	v.journal.lines = append(v.journal.lines, key) // also of one that is not written: it is removed with the others
	writer := v.writer
	v.mu.Unlock()
	return writer.Write(ctx, map[string][]byte{key: content})
}

// Touch says that an engine without a journal is about to change resource instances of a component
// instance. Until its result is saved, the state knows that they are in doubt if the working
// directory is lost.
func (v *Saver) Touch(ctx context.Context, addr stackaddrs.AbsComponentInstance, resources []string) error {
	content, err := json.Marshal(resources)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	component := addr.String()
	v.journal.touched[component] = true
	return v.writeTogether(ctx, map[string][]byte{v.touchedKey(component): content})
}

func (v *Saver) touchedKey(component string) string {
	return touchedKind + v.stored.lock.Name() + " " + component
}

// EndPlan says that nothing of the plan is left to do, unless the disk was full. Nobody can go on
// with it then, which is recorded.
func (v *Saver) EndPlan() { v.ended = !v.full }

// Save writes one change. A change that could not be written is tried again at the end.
func (v *Saver) Save(ctx context.Context, change stackruntime.StateChange) error {
	records, err := change.Records()
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		v.left.lost = errors.Join(v.left.lost, err)
		return err
	}
	if len(change.Renamed) > 0 {
		v.left.unmoved = records
		return v.writeUnmoved(ctx)
	}
	component := changedComponent(change)
	switch {
	case component == "" && !v.stored.lock.Alone():
		v.values = records
		return nil
	case component != "" && len(records) > 0 && !v.stored.lock.MayChange(addrOf(change)):
		err := fmt.Errorf("%s is none of the components that are locked to be changed; this is a bug in cairn", component)
		v.left.lost = errors.Join(v.left.lost, err)
		return err
	}
	if v.plan != "" && change.Stage != "" {
		key := progressKey(v.plan, component)
		records[key], v.progress[key] = []byte(change.Stage), nil
	}
	if v.journal.touched[component] && !change.Interim {
		records[v.touchedKey(component)] = nil
	}
	err = v.writeUnmoved(ctx)
	if err == nil {
		err = v.writeTogether(ctx, records)
	}
	if err != nil {
		v.left.unsaved[component] = records
		return err
	}
	delete(v.left.unsaved, component)
	return v.mayGoOn()
}

// mayGoOn ends the apply after a change was saved in space that was kept back: for another one
// there may be none.
func (v *Saver) mayGoOn() error {
	if !v.stored.lock.ReserveUsed() {
		return nil
	}
	v.full = true
	return stackruntime.ErrBeginNothing
}

// DiskFull says why not all of an apply was done that was saved.
func (v *Saver) DiskFull() hcl.Diagnostics {
	if !v.full {
		return nil
	}
	return hcl.Diagnostics{failure.New("Disk full", "No space is left where the state is kept. All completed changes are saved, since "+
		"space was kept back for that, "+
		"and nothing more was begun. Free some space and run the command again.")}
}

// writeUnmoved writes addresses that could not be written yet.
func (v *Saver) writeUnmoved(ctx context.Context) error {
	err := v.write(ctx, v.left.unmoved)
	if err == nil {
		v.left.unmoved = nil
	}
	return err
}

func changedComponent(change stackruntime.StateChange) string {
	if change.After == nil && change.Before == nil {
		return ""
	}
	return addrOf(change).String()
}

// addrOf returns the component instance of a change of one.
func addrOf(change stackruntime.StateChange) stackaddrs.AbsComponentInstance {
	if change.After != nil {
		return change.After.Addr
	}
	return change.Before.Addr
}

// writeTogether is write which gives up v.mu meanwhile, once there is a writer.
func (v *Saver) writeTogether(ctx context.Context, records map[string][]byte) error {
	if v.writer == nil {
		return v.write(ctx, records)
	}
	v.mu.Unlock()
	defer v.mu.Lock()
	return v.writer.Write(ctx, records)
}

// write writes records. v.mu must be held.
func (v *Saver) write(ctx context.Context, records map[string][]byte) error {
	if len(records) == 0 {
		return nil
	}
	if v.writer != nil {
		return v.writer.Write(ctx, records)
	}
	opening, err := v.opening()
	if err != nil {
		return err
	}
	maps.Copy(opening, records)
	writer, err := v.stored.begin(ctx, v.operation, opening)
	if err != nil {
		return err
	}
	v.writer = writer
	return nil
}

// opening returns the first records of the operation about the plan that it applies.
func (v *Saver) opening() (map[string][]byte, error) {
	opening := maps.Clone(v.progress)
	if v.plan == "" || v.ended {
		return opening, nil
	}
	begun := &Begun{v.plan, v.stored.Begun[v.plan]}
	records, err := begun.records(v.stored.lock.locked())
	maps.Copy(opening, records)
	for key := range records {
		v.progress[key] = nil
	}
	return opening, err
}

// Ending returns the records besides those of components that an operation writes at its end, on
// the state as it is then. Overtaken says that other operations have changed other parts of that
// since the operation began: the records have the root values then, too, as outputs may be made of
// those parts.
type Ending func(ctx context.Context, now *Stored, overtaken bool) (map[string][]byte, error)

// savedJournal is the record of an engine, as far as the state knows of it.
type savedJournal struct {
	begun   bool            // the state knows of it
	lines   []string        // keys of the records with its content
	touched map[string]bool // component instances that are about to be changed, or were
	closed  bool            // nothing more of its content is to be kept
}

// EndWith has the saver write more records at the end.
func (v *Saver) EndWith(ending Ending) { v.ending = ending }

// Finish writes the remaining records and ends the serial, even when ctx has ended.
//
// Where others change other parts of the state, its result is that of one operation after the
// other: each ends on a state that has all that was written, and again if another one has written
// meanwhile.
func (v *Saver) Finish(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // as writers do
	v.mu.Lock()
	defer v.mu.Unlock()
	v.journal.closed = true
	for {
		now, overtaken, err := v.now(ctx)
		if err != nil {
			return errors.Join(err, v.left.lost)
		}
		left, err := v.remaining(ctx, now, overtaken)
		if err != nil {
			return errors.Join(err, v.left.lost)
		}
		if !v.stored.lock.Alone() { // a serial for what is there already would make others look again, and so on
			maps.DeleteFunc(left, func(key string, value []byte) bool {
				is, exists := now.Records[key]
				return exists == (value != nil) && bytes.Equal(is, value)
			})
		}
		if err := v.write(ctx, left); err != nil {
			return errors.Join(err, v.left.lost)
		}
		if v.left.lost != nil || v.writer == nil {
			return v.left.lost
		}
		if v.stored.lock.Alone() || len(left) == 0 || v.writer.Base().Serial <= now.Serial+1 { // so nobody has opened another one meanwhile
			return v.writer.Commit(ctx)
		}
	}
}

// now returns the state as it is, and whether others have opened serials since it was read.
func (v *Saver) now(ctx context.Context) (now *Stored, overtaken bool, err error) {
	if v.stored.lock.Alone() {
		return v.stored, false, nil
	}
	snapshot, err := v.stored.store.Read(ctx, v.stored.Deployment)
	if err != nil {
		return nil, false, err
	}
	now = &Stored{Deployment: v.stored.Deployment, store: v.stored.store, lock: v.stored.lock}
	own := v.stored.Base()
	if v.writer != nil {
		own = statestore.NextBase(own)
		own.Lineage = v.writer.Base().Lineage
	}
	return now, snapshot.Base() != own, now.decode(snapshot)
}

// remaining returns the records that are not written yet.
func (v *Saver) remaining(ctx context.Context, now *Stored, overtaken bool) (map[string][]byte, error) {
	left := map[string][]byte{}
	if !overtaken || v.ending == nil {
		maps.Copy(left, v.values)
	}
	if v.ending != nil {
		records, err := v.ending(ctx, now, overtaken)
		if err != nil {
			return nil, err
		}
		maps.Copy(left, records)
	}
	maps.Copy(left, v.left.unmoved)
	for _, records := range v.left.unsaved {
		maps.Copy(left, records)
	}
	if v.journal.begun {
		left[v.journalKey()] = nil
		for _, key := range v.journal.lines {
			left[key] = nil
		}
		for component := range v.journal.touched {
			left[v.touchedKey(component)] = nil
		}
	}
	if !v.ended {
		return left, nil
	}
	maps.Copy(left, v.progress)
	if v.plan != "" && (v.writer != nil || len(left) > 0) {
		record, err := json.Marshal(planRecord{v.stored.lock.locked(), true})
		if err != nil {
			return nil, err
		}
		left[planKey(v.plan)] = record
	}
	return left, nil
}

// Base is the version of the state that was, or would have been, written.
func (v *Saver) Base() statestore.Base {
	if v.writer == nil {
		return v.stored.Base()
	}
	return v.writer.Base()
}

// Unsaved returns the components of which changes could not be written, sorted. Changes of root
// values are of a component without a name.
func (v *Saver) Unsaved() []string { return slices.Sorted(maps.Keys(v.left.unsaved)) }

// Lost reports whether something was done of which there is not even a record that could be
// written.
func (v *Saver) Lost() bool { return v.left.lost != nil }

// Document returns the state that an apply has made, as a document for a file. The secret is the
// one that [Stored.MakeSecret] gave.
func (v *Saver) Document(state *stackstate.State, secret []byte) ([]byte, error) {
	records, err := state.Records()
	if err != nil {
		return nil, err
	}
	base := v.Base()
	return json.MarshalIndent(Document{
		FormatVersion: documentVersion,
		Deployment:    v.stored.Deployment,
		Lineage:       base.Lineage,
		Serial:        base.Serial,
		Records:       records,
		Secret:        secret,
	}, "", "  ")
}
