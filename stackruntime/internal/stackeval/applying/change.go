// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// StateChange is a change of the state of one component instance, of root values, or of addresses.
type StateChange struct {
	Before, After *stackstate.Component // of one component instance; nil for none

	// Interim says that the component instance is still being applied, and that another change follows
	// when it is not any more.
	Interim bool

	// Stage is how far the component instance has come with its plan, if the engine has something to
	// do for that.
	Stage stackplan.Stage

	Inputs  map[string]cty.Value // root variables to set; [cty.NilVal] removes one
	Outputs map[string]cty.Value // root outputs to set; [cty.NilVal] removes one

	Renamed []stackstate.Renaming // component instances that have other addresses now, or that have such ones recorded, all at once

	Discard []string // keys of records to drop, which no version needs
}

// Renamings are the changes of the prior state that the moves of a plan make: of the instances that
// have moved, and of those that require them or are required by them.
func Renamings(before, after *stackstate.State, renames []stackaddrs.Rename) []stackstate.Renaming {
	previous := make(map[stackaddrs.AbsComponentInstance]stackaddrs.AbsComponentInstance, len(renames))
	for _, rename := range renames {
		previous[rename.To] = rename.From
	}
	var changes []stackstate.Renaming
	for _, c := range after.SortedComponents() {
		from, moved := previous[c.Addr]
		if !moved {
			from = c.Addr
		}
		if was := before.Components[from]; was != c {
			changes = append(changes, stackstate.Renaming{Before: was, After: c})
		}
	}
	return changes
}
