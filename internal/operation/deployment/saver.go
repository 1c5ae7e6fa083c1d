// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/statestore"
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

	journal string            // names the record of the engine; "" for none
	kept    map[string][]byte // records to be written at the end, besides those of the state
}

// Keep has records written at the end, besides those of the state.
func (v *Saver) Keep(records map[string][]byte) { v.kept = records }

// NewSaver returns a saver for an operation on a locked state that applies a plan: a saved one, of
// which this is the identity, or with "" another one. Nothing is written before the first change.
func NewSaver(stored *Stored, operation, plan string) *Saver {
	v := &Saver{stored: stored, operation: operation, plan: plan, progress: withoutBegun(stored.Records)}
	v.left.unsaved = map[string]map[string][]byte{}
	return v
}

// Begin opens the serial before anything is done, with the name of the record in which the engine
// keeps that. Until [Saver.Finish], the state knows that it must be there.
func (v *Saver) Begin(ctx context.Context, journal string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.journal = journal
	return v.write(ctx, map[string][]byte{journalKey: []byte(journal)})
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
	if v.plan != "" && change.Stage != "" {
		key := progressKind + component
		records[key], v.progress[key] = []byte(change.Stage), nil
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
	switch {
	case change.After != nil:
		return change.After.Addr.String()
	case change.Before != nil:
		return change.Before.Addr.String()
	}
	return ""
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
	base := v.stored.Base()
	opening, err := v.opening(base.Serial + 1)
	if err != nil {
		return err
	}
	maps.Copy(opening, records)
	writer, err := v.stored.lock.Begin(ctx, base, v.operation, opening)
	if err != nil {
		return err
	}
	v.writer = writer
	return nil
}

// opening returns the first records of a serial about the plan that writes it: a serial without
// them is another operation's.
func (v *Saver) opening(serial int64) (map[string][]byte, error) {
	opening := maps.Clone(v.progress)
	if v.plan == "" || v.ended {
		return opening, nil
	}
	begun := &Begun{Plan: v.plan}
	if before := v.stored.Begun; before != nil && before.Plan == v.plan {
		begun = before
	}
	records, err := begun.records(serial)
	maps.Copy(opening, records)
	v.progress[begunKey] = nil
	return opening, err
}

// Finish writes the remaining records and ends the serial.
func (v *Saver) Finish(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	left := map[string][]byte{}
	maps.Copy(left, v.kept)
	maps.Copy(left, v.left.unmoved)
	for _, records := range v.left.unsaved {
		maps.Copy(left, records)
	}
	if v.ended {
		maps.Copy(left, v.progress)
		if v.plan != "" && (v.writer != nil || len(left) > 0) {
			record, err := planRecord(v.plan, v.stored.Serial+1)
			if err != nil {
				return err
			}
			left[doneKey] = record
		}
	}
	if v.journal != "" {
		left[journalKey] = nil
	}
	if err := v.write(ctx, left); err != nil {
		return errors.Join(err, v.left.lost)
	}
	if v.left.lost != nil || v.writer == nil {
		return v.left.lost
	}
	return v.writer.Commit(ctx)
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
