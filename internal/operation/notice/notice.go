// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package notice has messages for users about an operation that goes on, as far as they are not
// diagnostics: they are of use at once, and of none later.
package notice

import (
	"time"

	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Notice is one of the types of this package.
type Notice interface{ notice() }

// Func is called with notices, by one goroutine at a time. Nil ignores them.
type Func func(Notice)

// Send calls f unless it is nil.
func (f Func) Send(n Notice) {
	if f != nil {
		f(n)
	}
}

// NewDeployment says that there is no state of a deployment while there are some of others: its
// name may be misspelt, and everything would be made once more.
type NewDeployment struct {
	Name   string
	Others []string // sorted
}

// WaitingForLock says that somebody else has the lock, which is waited for.
type WaitingForLock struct {
	AtMost time.Duration
	Holder statestore.LockInfo
	Part   string // of the state, which the holder has locked; "" for all
}

// WaitingForState says that the server with the states is away, and is waited for.
type WaitingForState statestore.Outage

// LockTakenOver says that the lock was left behind by a process that is gone, or did not renew it.
type LockTakenOver struct{ From statestore.LockInfo }

// Working names work that may take long, such as "Installing providers".
type Working struct{ What string }

// EngineLog says where the log of the engine goes that the environment asks for.
type EngineLog struct{ File string }

// ProviderFetch says that the package of a provider is fetched, and how far that is: often while it
// arrives.
type ProviderFetch selection.Event

// Fetching says that a source package is fetched.
type Fetching struct{ Name string }

// ProvidersLocked says which versions of providers were chosen: others must learn of them.
type ProvidersLocked struct {
	Changes []engine.LockChange
	File    string // the lock file
}

// IgnoreFileExtended says that rules were added to a file of git's that was there.
type IgnoreFileExtended struct {
	File  string
	Added []string
}

// IgnoreFileUnwritable says that git may take a file that holds secrets.
type IgnoreFileUnwritable struct{ File, Secret, Reason string }

// CachesRemoved says that the caches in a working directory were removed, since this user's cairn
// has not made it there.
type CachesRemoved struct{ Dir string }

// WaitingForApply says that the engine of an apply that was cut off is still running, and is waited
// for.
type WaitingForApply struct {
	Component string
	PID       int // 0 if it is not known
}

// WaitingForWorker says that no worker of a pool has taken the work on a component for a while.
type WaitingForWorker struct{ Component, Pool string }

// Resuming says that a saved plan goes on which was applied in part: how many of the component
// instances that it changes are done, and how many were begun.
type Resuming struct{ Done, Begun, Of int }

func (Resuming) notice()             {}
func (WaitingForApply) notice()      {}
func (WaitingForWorker) notice()     {}
func (NewDeployment) notice()        {}
func (WaitingForLock) notice()       {}
func (WaitingForState) notice()      {}
func (LockTakenOver) notice()        {}
func (Working) notice()              {}
func (EngineLog) notice()            {}
func (Fetching) notice()             {}
func (ProviderFetch) notice()        {}
func (ProvidersLocked) notice()      {}
func (IgnoreFileExtended) notice()   {}
func (IgnoreFileUnwritable) notice() {}
func (CachesRemoved) notice()        {}
