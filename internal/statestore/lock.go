// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"crypto/rand"
	"slices"
	"strings"
	"time"
)

// LockRequest has the purpose and the holder of a lock.
type LockRequest struct {
	Operation string
	Owner     string // the current user if empty

	// Parts are what is locked; none stands for the whole deployment, exclusively.
	Parts []Part

	// Reserve keeps space back while the lock is held, where the disk may be full before all is saved:
	// for operations with changes that can't be undone. Lock fails if there is not that much.
	Reserve bool
}

// Part is a part of a deployment: the whole one has an empty path, and each further element names
// a part of the part before. A lock of a part is one of all that it consists of.
type Part struct {
	Path []string `json:"path"`

	// Exclusive is for a part that its holder changes. Others are shared: they have any number of
	// holders, and nobody changes them.
	Exclusive bool `json:"exclusive,omitempty"`
}

// Whole is the whole of a deployment, to be changed.
var Whole = Part{Exclusive: true}

// Name is the text of the elements, empty for the whole deployment.
func (p Part) Name() string { return strings.Join(p.Path, "") }

// Conflicts reports whether two holders cannot have these parts at the same time: one has what the
// other changes, or a part of it.
func (p Part) Conflicts(other Part) bool {
	n := min(len(p.Path), len(other.Path))
	return (p.Exclusive || other.Exclusive) && slices.Equal(p.Path[:n], other.Path[:n])
}

// Locked returns the parts of the lock: the whole deployment where it names none.
func (i *LockInfo) Locked() []Part {
	if len(i.Parts) == 0 {
		return []Part{Whole}
	}
	return i.Parts
}

// IsWhole reports whether the whole deployment is locked exclusively.
func (i *LockInfo) IsWhole() bool {
	return slices.ContainsFunc(i.Locked(), func(p Part) bool { return p.Exclusive && len(p.Path) == 0 })
}

// Conflict returns the first part of another holder that is none for this one at the same time. ok
// is false if there is no such part.
func (i *LockInfo) Conflict(other *LockInfo) (part Part, ok bool) {
	for _, theirs := range other.Locked() {
		if slices.ContainsFunc(i.Locked(), theirs.Conflicts) {
			return theirs, true
		}
	}
	return Part{}, false
}

// LockInfo describes the holder of a lock.
type LockInfo struct {
	ID         string
	Deployment string
	Parts      []Part // of the deployment; none stands for the whole, exclusively
	Operation  string
	Owner      string // user
	Host       string
	PID        int
	Started    time.Time
	Seen       time.Time // last write, give or take a second, or Started
	Epoch      int64     // grows with every lock of the deployment

	// Until is when the lease of the lock ends if the holder does not renew it, by the clock of the
	// store; zero where locks have none.
	Until time.Time

	// Expired is set in the results of [Lock.TakenFrom] where nothing proves that the process is gone,
	// but the lease has ended.
	Expired bool

	// Identity is that of the process.
	Identity ProcessIdentity
}

// NewLockInfo describes this process as the holder of a new lock.
func NewLockInfo(deployment string, request LockRequest) LockInfo {
	if request.Owner == "" {
		request.Owner = CurrentOwner()
	}
	process := CurrentProcess()
	now := Now()
	return LockInfo{
		ID:         rand.Text(),
		Deployment: deployment,
		Parts:      request.Parts,
		Operation:  request.Operation,
		Owner:      request.Owner,
		Host:       CurrentHost(),
		PID:        process.PID,
		Started:    now,
		Seen:       now,
		Identity:   process,
	}
}

// Now returns the time, as precise as stores keep it.
func Now() time.Time { return time.UnixMicro(time.Now().UnixMicro()).UTC() }

// Displace fails unless the lock of this holder may be removed, as it has a part that conflicts
// with those of another lock (rule S4). Now is the time by the clock of the store, for locks with
// leases. Expired is set where nothing but the lease proves it.
//
// Errors: [*LockedError].
func (i *LockInfo) Displace(part Part, location string, now time.Time) error {
	switch process := i.Process(); {
	case process == ProcessGone:
		return nil
	case process == ProcessUnknown && !i.Until.IsZero() && now.After(i.Until):
		i.Expired = true
		return nil
	default:
		return &LockedError{Location: location, Holder: *i, Part: part, Running: process == ProcessRunning}
	}
}

// Process reports whether the process that holds the lock runs, as far as this one can tell.
func (i *LockInfo) Process() string {
	return i.Identity.Status()
}
