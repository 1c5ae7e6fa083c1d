// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"crypto/rand"
	"time"
)

// LockRequest has the purpose and the holder of a lock.
type LockRequest struct {
	Operation string
	Owner     string // the current user if empty

	// Reserve keeps space back while the lock is held, where the disk may be full before all is saved:
	// for operations with changes that can't be undone. Lock fails if there is not that much.
	Reserve bool
}

// LockInfo describes the holder of a lock.
type LockInfo struct {
	ID         string
	Deployment string
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

	// Expired is set in the result of [Lock.TakenFrom] where nothing proves that the process is gone,
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

// Displace fails unless the lock of this holder may be taken (rule S4). Now is the time by the
// clock of the store, for locks with leases. Expired is set where nothing but the lease proves it.
//
// Errors: [*LockedError].
func (i *LockInfo) Displace(location string, now time.Time) error {
	switch process := i.Process(); {
	case process == ProcessGone:
		return nil
	case process == ProcessUnknown && !i.Until.IsZero() && now.After(i.Until):
		i.Expired = true
		return nil
	default:
		return &LockedError{Location: location, Holder: *i, Running: process == ProcessRunning}
	}
}

// Process reports whether the process that holds the lock runs, as far as this one can tell.
func (i *LockInfo) Process() string {
	return i.Identity.Status()
}
