// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Remembered is what a state remembers of applies that were cut off, until somebody has accepted
// it.
type Remembered struct {
	Lost   []string            // names of journals that are lost, sorted
	Doubts map[string][]string // addresses of resource instances in doubt, by component instances
}

// isRememberedKey reports whether a record is of something that is remembered.
func isRememberedKey(key string) bool {
	return isOfKind(key, lostKind, doubtKind)
}

// decodeRemembered reads the records of what is remembered of some locked parts.
func decodeRemembered(records map[string][]byte, parts []statestore.Part) (Remembered, error) {
	found := Remembered{Doubts: map[string][]string{}}
	for _, key := range keysOf(records, lostKind, doubtKind) {
		name, isLost := strings.CutPrefix(key, lostKind)
		component, isDoubt := strings.CutPrefix(key, doubtKind)
		var err error
		switch {
		case isLost && name == "": // of a version whose locks had no parts
			found.Lost = append(found.Lost, string(records[key]))
		case isLost:
			var journal journalRecord
			err = json.Unmarshal(records[key], &journal)
			if conflict(parts, journal.Parts) {
				found.Lost = append(found.Lost, name)
			}
		case isDoubt:
			var addr stackaddrs.AbsComponentInstance
			if addr, err = stackaddrs.ParseAbsComponentInstance(component); err == nil && conflict(parts, []statestore.Part{Instance(addr, true)}) {
				var resources []string
				err = json.Unmarshal(records[key], &resources)
				found.Doubts[component] = resources
			}
		}
		if err != nil {
			return Remembered{}, failure.Error("Unreadable state", "The record %q of an apply cannot be understood: %s.", key, err)
		}
	}
	return found, nil
}

// records returns the records of what is remembered, under a lock of some parts.
func (r Remembered) records(parts []statestore.Part) (map[string][]byte, error) {
	records := map[string][]byte{}
	for _, name := range r.Lost {
		value, err := json.Marshal(journalRecord{Parts: parts})
		if err != nil {
			return nil, err
		}
		records[lostKind+name] = value
	}
	for component, resources := range r.Doubts {
		value, err := json.Marshal(resources)
		if err != nil {
			return nil, err
		}
		records[doubtKind+component] = value
	}
	return records, nil
}

// Same reports whether another state remembers the same.
func (r Remembered) Same(other Remembered) bool {
	return slices.Equal(r.Lost, other.Lost) && maps.EqualFunc(r.Doubts, other.Doubts, slices.Equal)
}

// changes returns the changes of records that make a state remember something else.
func (r Remembered) changes(to Remembered, parts []statestore.Part) (map[string][]byte, error) {
	before, err := r.records(parts)
	if err != nil {
		return nil, err
	}
	after, err := to.records(parts)
	changes := map[string][]byte{}
	for key := range before {
		if after[key] == nil {
			changes[key] = nil
			if strings.HasPrefix(key, lostKind) {
				changes[lostKind] = nil // which has the name in a state of a version whose locks had no parts
			}
		}
	}
	for key, value := range after {
		if _, known := before[key]; !known || strings.HasPrefix(key, doubtKind) {
			changes[key] = value
		}
	}
	return changes, err
}
