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
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Begun is a saved plan that was applied in part, where all that has changed in the state since it
// was made, in the parts that it was made from, is its own work.
type Begun struct {
	Plan     string             // its identity
	Progress stackplan.Progress // never nil
}

// The records of operations, each with the parts of the state that its lock had. Another operation
// drops those of operations on the same parts when it opens its first serial, so that a plan does
// not go on, and is not taken for applied, after somebody else has changed its parts. Their kinds
// are such that versions which do not know them drop them.
const (
	planKind     = "plan" // before the identity of a saved plan that was applied, in part or whole: a planRecord
	progressKind = "prog" // before that identity, a space, and the address of a component instance: its stage

	// journalKind comes before the ID of the lock of an apply that goes on, or was cut off: a
	// journalRecord.
	journalKind = "jrnl"

	// linesKind comes before such an ID, a space and a number: the content of that journal, in the
	// order of the numbers, where the state outlives working directories.
	linesKind = "jlog"

	// touchedKind comes before such an ID, a space and the address of a component instance: the
	// resource instances that an engine without such a journal is about to change, until the result
	// is saved.
	touchedKind = "tchd"

	// lostKind comes before the name of a journal that is lost, and doubtKind before the address of a
	// component instance: the resource instances in it that are in doubt. Where the state outlives
	// working directories, nothing else remembers them until somebody has accepted them. Serials leave
	// them alone.
	lostKind  = "lost"
	doubtKind = "dubt"
)

// planRecord is a record of kind planKind, as JSON.
type planRecord struct {
	Parts []statestore.Part `json:"parts,omitempty"`
	Done  bool              `json:"done,omitempty"` // nothing of it is left to do
}

// journalRecord is a record of kind journalKind, as JSON. The name is that of the record in which
// an engine keeps its work, "" for engines that have none in one place. The directory is the
// identity of the working directory, where the state outlives it.
type journalRecord struct {
	Name      string            `json:"name,omitempty"`
	Directory string            `json:"directory,omitempty"`
	Parts     []statestore.Part `json:"parts,omitempty"`
}

// isProgressKey reports whether a record is about an operation rather than of the state.
func isProgressKey(key string) bool {
	return isOfKind(key, planKind, progressKind, journalKind, linesKind, touchedKind) || isRememberedKey(key)
}

func isOfKind(key string, kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(key, kind) })
}

// keysOf returns the keys of records of some kinds, sorted. Most records are of others.
func keysOf(records map[string][]byte, kinds ...string) []string {
	var keys []string
	for key := range records {
		if isOfKind(key, kinds...) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func planKey(plan string) string { return planKind + plan }

func progressKey(plan, component string) string { return progressKind + plan + " " + component }

// operations are the records of operations in a state.
type operations struct {
	plans    map[string]*knownPlan    // by their identities
	journals map[string]*knownJournal // by the IDs of locks
}

// knownPlan is a saved plan that was applied, in part or whole.
type knownPlan struct {
	planRecord

	progress stackplan.Progress
	keys     []string // of its records
}

// knownJournal is the journal of an apply that goes on or was cut off.
type knownJournal struct {
	journalRecord

	lines   []string            // keys of the records with its content, in their order
	touched map[string][]string // resource instances, by component instances
	keys    []string            // of all its records
}

// decodeOperations reads the records of operations.
func decodeOperations(records map[string][]byte) (operations, error) {
	known := operations{plans: map[string]*knownPlan{}, journals: map[string]*knownJournal{}}
	for key, value := range records {
		plan, isPlan := strings.CutPrefix(key, planKind)
		lock, isJournal := strings.CutPrefix(key, journalKind)
		var err error
		switch {
		case isPlan:
			found := &knownPlan{progress: stackplan.Progress{}, keys: []string{key}}
			err = json.Unmarshal(value, &found.planRecord)
			known.plans[plan] = found
		case isJournal:
			found := &knownJournal{touched: map[string][]string{}, keys: []string{key}}
			if err = json.Unmarshal(value, &found.journalRecord); lock == "" { // of a version whose locks had no parts
				found.Name, err = string(value), nil
			}
			known.journals[lock] = found
		}
		if err != nil {
			return operations{}, failure.Error("Unreadable state", "The record of an apply cannot be understood: %s.", err)
		}
	}
	for _, key := range keysOf(records, linesKind, touchedKind) {
		if err := known.add(key, records[key]); err != nil {
			return operations{}, failure.Error("Unreadable state", "The record of an apply cannot be understood: %s.", err)
		}
	}
	for key, value := range records {
		text, isProgress := strings.CutPrefix(key, progressKind)
		plan, address, _ := strings.Cut(text, " ")
		found := known.plans[plan]
		if !isProgress || found == nil {
			continue
		}
		addr, err := stackaddrs.ParseAbsComponentInstance(address)
		if err != nil {
			return operations{}, failure.Error("Unreadable state", "The record of the progress of a plan cannot be understood: %s.", err)
		}
		found.progress[addr], found.keys = stackplan.Stage(value), append(found.keys, key)
	}
	return known, nil
}

// add adds a record of kind linesKind or touchedKind to the journal that it belongs to. Records
// come in the order of their keys.
func (o operations) add(key string, value []byte) error {
	lock, component, _ := strings.Cut(key[len(linesKind):], " ")
	journal := o.journals[lock]
	if journal == nil {
		return nil
	}
	journal.keys = append(journal.keys, key)
	if isOfKind(key, linesKind) {
		journal.lines = append(journal.lines, key)
		return nil
	}
	var resources []string
	err := json.Unmarshal(value, &resources)
	journal.touched[component] = resources
	return err
}

// begun returns the progress of the plans that were applied in part, by their identities.
func (o operations) begun() map[string]stackplan.Progress {
	begun := map[string]stackplan.Progress{}
	for plan, known := range o.plans {
		if !known.Done {
			begun[plan] = known.progress
		}
	}
	return begun
}

// withoutOthers returns changes of records that drop those of the operations on some parts, but for
// those of a plan.
func (o operations) withoutOthers(parts []statestore.Part, plan string) map[string][]byte {
	dropped := map[string][]byte{}
	for identity, known := range o.plans {
		if identity == plan || !conflict(parts, known.Parts) {
			continue
		}
		for _, key := range known.keys {
			dropped[key] = nil
		}
	}
	for _, journal := range o.journals {
		if conflict(parts, journal.Parts) {
			for _, key := range journal.keys {
				dropped[key] = nil
			}
		}
	}
	return dropped
}

// journalsOf returns the names of the journals of operations on some parts, which were cut off for
// one who has the lock of these, and those of all others, sorted.
func (o operations) journalsOf(parts []statestore.Part) (cutOff, others []string) {
	for _, lock := range slices.Sorted(maps.Keys(o.journals)) {
		if journal := o.journals[lock]; conflict(parts, journal.Parts) {
			cutOff = append(cutOff, journal.Name)
		} else {
			others = append(others, journal.Name)
		}
	}
	return cutOff, others
}

// records returns the records of a plan that was begun under a lock of some parts.
func (b *Begun) records(parts []statestore.Part) (map[string][]byte, error) {
	value, err := json.Marshal(planRecord{Parts: parts})
	if err != nil {
		return nil, err
	}
	records := map[string][]byte{planKey(b.Plan): value}
	for addr, stage := range b.Progress {
		records[progressKey(b.Plan, addr.String())] = []byte(stage)
	}
	return records, nil
}

// withoutProgress returns changes of records that drop all records of operations among others,
// but for those that are remembered.
func withoutProgress(records map[string][]byte) map[string][]byte {
	dropped := map[string][]byte{}
	for key := range records {
		if isProgressKey(key) && !isRememberedKey(key) {
			dropped[key] = nil
		}
	}
	return dropped
}
