// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package notice has what users should learn while an operation goes on, and which is no diagnostic: it is of use at once, and of none later.
package notice

import (
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// Notice is one of the types of this package.
type Notice interface{ notice() }

// Func is told of notices, by one goroutine at a time. Nil ignores them.
type Func func(Notice)

// Tell calls f unless it is nil.
func (f Func) Tell(n Notice) {
	if f != nil {
		f(n)
	}
}

// NewDeployment says that there is no state of a deployment while there are some of others: its name may be misspelt, and
// everything would be made once more.
type NewDeployment struct {
	Name   string
	Others []string // sorted
}

// WaitingForLock says that somebody else has the lock, which is waited for.
type WaitingForLock struct {
	AtMost time.Duration
	Holder statestore.LockInfo
}

// LockTakenOver says that the lock was left behind by a process that is gone.
type LockTakenOver struct{ From statestore.LockInfo }

func (NewDeployment) notice()  {}
func (WaitingForLock) notice() {}
func (LockTakenOver) notice()  {}
