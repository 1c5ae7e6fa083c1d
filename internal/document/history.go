// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package document

import (
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// Serial names a serial of a state, and who has made it.
type Serial struct {
	Serial     int64     `json:"serial"`
	Operation  string    `json:"operation"`
	Plan       string    `json:"plan,omitempty"`        // the ID of the saved plan that was applied
	ApprovedBy string    `json:"approved_by,omitempty"` // rules, or how a person has
	Owner      string    `json:"owner"`
	Host       string    `json:"host"`
	Started    time.Time `json:"started"`
}

// Lock is a lock of a state.
type Lock struct {
	ID         string       `json:"id"`
	Deployment string       `json:"deployment"`
	Operation  string       `json:"operation"`
	Owner      string       `json:"owner"`
	Host       string       `json:"host"`
	PID        int          `json:"pid"`
	Process    string       `json:"process"` // running, gone or unknown
	Started    time.Time    `json:"started"`
	LastWrite  time.Time    `json:"last_write"`
	LeaseUntil *time.Time   `json:"lease_until"` // null where locks have no leases
	Parts      []LockedPart `json:"parts"`
}

// LockedPart is a part of the state that is locked.
type LockedPart struct {
	Address   string `json:"address"`   // of a component, an instance of one, or a variable; "" for all
	Exclusive bool   `json:"exclusive"` // whether the holder changes it; else nobody does
}

// NewLock returns the document of a lock.
func NewLock(l statestore.LockInfo) Lock {
	lock := Lock{l.ID, l.Deployment, l.Operation, l.Owner, l.Host, l.PID, l.Process(), l.Started.UTC(), l.Seen.UTC(), nil, nil}
	for _, part := range l.Locked() {
		lock.Parts = append(lock.Parts, LockedPart{part.Name(), part.Exclusive})
	}
	if !l.Until.IsZero() {
		until := l.Until.UTC()
		lock.LeaseUntil = &until
	}
	return lock
}
