// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"maps"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// StateChange is a change of the state of one component instance, of root values, or of addresses.
type StateChange struct {
	Before, After *stackstate.Component // of one component instance; nil for none

	// Interim says that the component instance is still being applied, and that another change follows when it is not any more.
	Interim bool

	// Stage is how far the component instance has come with its plan, if the engine has something to do for that.
	Stage stackplan.Stage

	Inputs  map[string]cty.Value // root variables to set; [cty.NilVal] removes one
	Outputs map[string]cty.Value // root outputs to set; [cty.NilVal] removes one

	Renamed []Renaming // component instances that have other addresses now, or that have such ones recorded, all at once

	Discard []string // keys of records to drop, which no version needs
}

// Renaming is the record of a component instance before and after instances got other addresses: its own, or what it requires and what
// requires it.
type Renaming struct{ Before, After *stackstate.Component }

// Records returns what has to be written to a stored state: values by key, nil
// for what is to be deleted. Empty when nothing changes.
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

// Renamings are the changes of the prior state that the moves of a plan make: of the instances that have moved, and
// of those that require them or are required by them.
func Renamings(before, after *stackstate.State, renames []stackaddrs.Rename) []Renaming {
	previous := make(map[stackaddrs.AbsComponentInstance]stackaddrs.AbsComponentInstance, len(renames))
	for _, rename := range renames {
		previous[rename.To] = rename.From
	}
	var changes []Renaming
	for _, c := range after.SortedComponents() {
		from, moved := previous[c.Addr]
		if !moved {
			from = c.Addr
		}
		if was := before.Components[from]; was != c {
			changes = append(changes, Renaming{was, c})
		}
	}
	return changes
}
