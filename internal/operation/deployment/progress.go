// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"encoding/json"
	"strings"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Begun is a saved plan that was applied in part, where all that has changed in the state since it
// was made is its own work.
type Begun struct {
	Plan     string             // its identity
	Progress stackplan.Progress // never nil
}

// The records of a plan that was begun: its identity and the serial that it has written last, and
// the progress of each component instance. Any other operation opens a serial of its own, so that
// the plan cannot go on whether or not that operation knows of these records. Their kinds are such
// that versions which do not know them drop them.
const (
	begunKey     = "plan"
	doneKey      = "done" // instead, if nothing of the plan is left to do
	progressKind = "prog" // before the address of a component instance

	// journalKey has the name of the record in which an engine keeps the work of an apply that goes
	// on, or was cut off. Any serial that is not of such an apply drops it, so a program that opens
	// one must have recovered before.
	journalKey = "jrnl"

	// lostKey has the name of such a record that is lost, until somebody has accepted that: where the
	// state outlives working directories, nothing else remembers it. Serials leave it alone.
	lostKey = "lost"
)

// begunRecord is the record with the key begunKey or doneKey, as JSON.
type begunRecord struct {
	Plan   string `json:"plan"`
	Serial int64  `json:"serial"`
}

// isProgressKey reports whether a record is about an operation rather than of the state.
func isProgressKey(key string) bool {
	return key == begunKey || key == doneKey || key == journalKey || key == lostKey || strings.HasPrefix(key, progressKind)
}

// decodeBegun returns the plan that was begun according to the records of a serial; nil if there is
// none that can go on.
func decodeBegun(records map[string][]byte, serial int64) (*Begun, error) {
	plan, err := planOf(records, begunKey, serial)
	if plan == "" || err != nil {
		return nil, err
	}
	begun := &Begun{Plan: plan, Progress: stackplan.Progress{}}
	for key, value := range records {
		address, ok := strings.CutPrefix(key, progressKind)
		if !ok {
			continue
		}
		addr, err := stackaddrs.ParseAbsComponentInstance(address)
		if err != nil {
			return nil, failure.Error("Unreadable state", "The record of the progress of a plan cannot be understood: %s.", err)
		}
		begun.Progress[addr] = stackplan.Stage(value)
	}
	return begun, nil
}

// planOf returns the plan that a record of a serial names; empty if there is none, or if another
// serial has written it.
func planOf(records map[string][]byte, key string, serial int64) (string, error) {
	value := records[key]
	if value == nil {
		return "", nil
	}
	var record begunRecord
	if err := json.Unmarshal(value, &record); err != nil {
		return "", failure.Error("Unreadable state", "The record of the plan that was applied cannot be understood: %s.", err)
	}
	if record.Serial != serial {
		return "", nil
	}
	return record.Plan, nil
}

// planRecord returns a record that planOf reads.
func planRecord(plan string, serial int64) ([]byte, error) {
	return json.Marshal(begunRecord{plan, serial})
}

// records returns how a serial that the plan writes records it.
func (b *Begun) records(serial int64) (map[string][]byte, error) {
	value, err := planRecord(b.Plan, serial)
	if err != nil {
		return nil, err
	}
	records := map[string][]byte{begunKey: value}
	for addr, stage := range b.Progress {
		records[progressKey(addr)] = []byte(stage)
	}
	return records, nil
}

func progressKey(addr stackaddrs.AbsComponentInstance) string { return progressKind + addr.String() }

// withoutBegun returns changes of records that drop the records of plans among others.
func withoutBegun(records map[string][]byte) map[string][]byte {
	dropped := map[string][]byte{}
	for key := range records {
		if isProgressKey(key) && key != lostKey {
			dropped[key] = nil
		}
	}
	return dropped
}
