// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime"
)

// stateSaver writes the changes of an apply into one serial, which it begins with the first change.
type stateSaver struct {
	stored    *storedState
	operation string
	writer    statestore.Writer

	// unsaved are records that could not be written, by component; those of root values have no name. The evaluator
	// makes all changes of a component from what was saved of it, so a later one takes the place of an earlier one, and
	// none may be written once a later one was. Addresses that could not be written come before all of them.
	unmoved map[string][]byte
	unsaved map[string]map[string][]byte
	lost    error // of a change that has no records

	full bool // the disk is: nothing more was begun
}

func newStateSaver(stored *storedState, operation string) *stateSaver {
	return &stateSaver{
		stored:    stored,
		operation: operation,
		unsaved:   map[string]map[string][]byte{},
	}
}

// save writes one change. What could not be written is tried again at the end.
func (v *stateSaver) save(ctx context.Context, change stackruntime.StateChange) error {
	records, err := change.Records()
	if err != nil {
		v.lost = errors.Join(v.lost, err)
		return err
	}
	if len(change.Renamed) > 0 {
		v.unmoved = records
		return v.writeUnmoved(ctx)
	}
	component := changedComponent(change)
	err = v.writeUnmoved(ctx)
	if err == nil {
		err = v.write(ctx, records)
	}
	if err != nil {
		v.unsaved[component] = records
		return err
	}
	delete(v.unsaved, component)
	return v.mayGoOn()
}

// mayGoOn ends the apply after a change was saved in space that was kept back: for another one there may be none.
func (v *stateSaver) mayGoOn() error {
	if !v.stored.lock.ReserveUsed() {
		return nil
	}
	v.full = true
	return stackruntime.ErrBeginNothing
}

// diskFull says why not all of an apply was done that was saved.
func (v *stateSaver) diskFull() hcl.Diagnostics {
	if !v.full {
		return nil
	}
	return hcl.Diagnostics{problem("Disk is full", "No space is left where the state is kept. What was done is saved, since space was kept back for that, "+
		"and nothing more was begun. Free some space and run the command again.")}
}

// writeUnmoved writes addresses that could not be written yet.
func (v *stateSaver) writeUnmoved(ctx context.Context) error {
	err := v.write(ctx, v.unmoved)
	if err == nil {
		v.unmoved = nil
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

func (v *stateSaver) write(ctx context.Context, records map[string][]byte) error {
	if len(records) == 0 {
		return nil
	}
	if v.writer == nil {
		writer, err := v.stored.lock.Begin(ctx, v.stored.Base(), v.operation)
		if err != nil {
			return err
		}
		v.writer = writer
	}
	return v.writer.Write(ctx, records)
}

// finish writes what is left and ends the serial.
func (v *stateSaver) finish(ctx context.Context) error {
	left := map[string][]byte{}
	maps.Copy(left, v.unmoved)
	for _, records := range v.unsaved {
		maps.Copy(left, records)
	}
	if err := v.write(ctx, left); err != nil {
		return errors.Join(err, v.lost)
	}
	if v.lost != nil || v.writer == nil {
		return v.lost
	}
	return v.writer.Commit(ctx)
}

// base is the version of the state that was, or would have been, written.
func (v *stateSaver) base() statestore.Base {
	if v.writer == nil {
		return v.stored.Base()
	}
	return v.writer.Base()
}

// withoutSaveErrors drops what the evaluator says of a failure that is explained better here.
func withoutSaveErrors(diags hcl.Diagnostics) hcl.Diagnostics {
	return slices.DeleteFunc(diags, func(diag *hcl.Diagnostic) bool { return diag.Summary == "State not saved" })
}
