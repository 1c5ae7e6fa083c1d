// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Summary is the size of a state, and what is not at its end in it. Where many states are looked
// at, it takes the place of the whole state: no object is decoded.
type Summary struct {
	Components, Objects int

	// Applies is the number of applies that go on, or were cut off: whose locks are held tells which.
	Applies int

	// Begun are the identities of saved plans that were applied in part, sorted.
	Begun []string

	Remembered Remembered
}

// Summarize returns the summary of the records of a state.
func Summarize(records map[string][]byte) (Summary, error) {
	var s Summary
	for key := range records {
		switch {
		case isOfKind(key, string(stackstate.ComponentKind)):
			s.Components++
		case isOfKind(key, string(stackstate.ResourceKind)):
			s.Objects++
		}
	}
	known, err := decodeOperations(records)
	if err != nil {
		return s, err
	}
	s.Applies, s.Begun = len(known.journals), slices.Sorted(maps.Keys(known.begun()))
	s.Remembered, err = decodeRemembered(records, nil)
	return s, err
}

// Activity is what the records of a state tell of the applies that go on, to one who only looks.
type Activity struct {
	// Touched are the resource instances, by component instances, that an engine without a journal is
	// about to change.
	Touched map[string][]string

	// Stages are those of saved plans that were begun.
	Stages map[stackaddrs.AbsComponentInstance]stackplan.Stage
}

// ActivityIn returns the activity in the records of a state.
func ActivityIn(records map[string][]byte) (Activity, error) {
	found := Activity{map[string][]string{}, map[stackaddrs.AbsComponentInstance]stackplan.Stage{}}
	known, err := decodeOperations(records)
	if err != nil {
		return found, err
	}
	for _, journal := range known.journals {
		maps.Copy(found.Touched, journal.touched)
	}
	for _, progress := range known.begun() {
		maps.Copy(found.Stages, progress)
	}
	return found, nil
}
