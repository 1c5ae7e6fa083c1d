// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime

import (
	"context"
	"maps"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/applying"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// StateChange is a change of the state, to be saved as soon as it is reported.
type StateChange struct {
	Before, After *stackstate.Component // of one component instance; nil for none

	// Interim says that the component instance is still being applied, and that another change
	// follows at the end.
	Interim bool

	// Stage is how far the component instance has come with its plan, if the engine has something to
	// do for that.
	Stage stackplan.Stage

	Inputs  map[string]cty.Value // root variables to set; [cty.NilVal] removes one
	Outputs map[string]cty.Value // root outputs to set; [cty.NilVal] removes one

	// Renamed are component instances that have other addresses now, or that have such ones recorded,
	// all at once.
	Renamed []stackstate.Renaming

	Discard []string // keys of records to drop, which no version needs
}

// Records returns the writes to a stored state: values by key, nil for a record to delete. Empty
// when nothing changes.
//
// Errors: as [stackstate.Diff].
func (c StateChange) Records() (map[string][]byte, error) {
	before, after := stackstate.New(), stackstate.New()
	before.Discarded = c.Discard
	split(c.Inputs, before.Inputs, after.Inputs)
	split(c.Outputs, before.Outputs, after.Outputs)
	for _, renaming := range c.Renamed {
		before.Components[renaming.Before.Addr] = renaming.Before
		after.Components[renaming.After.Addr] = renaming.After
	}
	records, err := stackstate.Diff(before, after)
	if err != nil {
		return nil, err
	}
	component, err := stackstate.ComponentRecords(c.Before, c.After)
	if err != nil {
		return nil, err
	}
	maps.Copy(records, component)
	return records, nil
}

// split sorts values into those to be removed, which need only have existed, and those to be set.
func split(changed, removed, set map[string]cty.Value) {
	for name, value := range changed {
		if value == cty.NilVal {
			removed[name] = cty.NullVal(cty.DynamicPseudoType)
			continue
		}
		set[name] = value
	}
}

// recorder keeps the state up to date while it is saved.
type recorder struct {
	next func(context.Context, StateChange) error

	mu    sync.Mutex
	state *stackstate.State
}

func newRecorder(req ApplyRequest) *recorder {
	state := *req.Prior
	state.Components = maps.Clone(state.Components)
	state.Inputs = maps.Clone(state.Inputs)
	state.Outputs = maps.Clone(state.Outputs)
	return &recorder{next: req.Save, state: &state}
}

func (r *recorder) save(ctx context.Context, reported applying.StateChange) error {
	change := StateChange(reported)
	r.keep(change)
	if r.next == nil {
		return nil
	}
	return r.next(ctx, change)
}

func (r *recorder) keep(change StateChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, renaming := range change.Renamed {
		delete(r.state.Components, renaming.Before.Addr)
	}
	for _, renaming := range change.Renamed {
		r.state.Components[renaming.After.Addr] = renaming.After
	}
	switch {
	case change.After != nil:
		r.state.Components[change.After.Addr] = change.After
	case change.Before != nil:
		delete(r.state.Components, change.Before.Addr)
	}
	if len(change.Discard) > 0 {
		r.state.Discarded = nil
	}
	setAll(r.state.Inputs, change.Inputs)
	setAll(r.state.Outputs, change.Outputs)
}

func setAll(values, changed map[string]cty.Value) {
	for name, value := range changed {
		if value == cty.NilVal {
			delete(values, name)
			continue
		}
		values[name] = value
	}
}
