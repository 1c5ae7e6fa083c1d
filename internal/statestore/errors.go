// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrCommitted is returned by a [Writer] that has been committed.
var ErrCommitted = errors.New("this serial of the state has been committed; begin a new one to write more")

// ErrClosed is returned by a [Store] that has been closed.
var ErrClosed = errors.New("the state store is closed")

// ErrChanged is returned by [Store.MarkMoved].
var ErrChanged = errors.New("the states have changed meanwhile")

// Problem is a fault of the storage itself.
type Problem string

// The problems a [*StoreError] reports.
const (
	ProblemURL         Problem = "unusable state location"
	ProblemUnreachable Problem = "unreachable"
	ProblemNoDirectory Problem = "no such directory"
	ProblemAccess      Problem = "no access"
	ProblemReadOnly    Problem = "read-only"
	ProblemNotState    Problem = "not a state file"
	ProblemCorrupt     Problem = "damaged"
	ProblemNewer       Problem = "newer format"
	ProblemBusy        Problem = "busy"
	ProblemFull        Problem = "disk full"
	ProblemReplaced    Problem = "replaced"
	ProblemMoved       Problem = "moved"
	ProblemIO          Problem = "input/output error"
)

// StoreError is a fault of the storage: its place, its file, its disk. The
// call that returned it has changed nothing.
type StoreError struct {
	Location string // path or URL
	Problem  Problem
	Detail   string // the fault: a clause that follows the location
	Remedy   string // a sentence without its full stop
	Err      error  // cause, may be nil
}

func (e *StoreError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "state %s %s", e.Location, e.Detail)
	if e.Err != nil {
		fmt.Fprintf(&b, " (%s)", e.Err)
	}
	if e.Remedy != "" {
		fmt.Fprintf(&b, "; %s", e.Remedy)
	}
	return b.String()
}

func (e *StoreError) Unwrap() error { return e.Err }

// MovedError is the error of states that were moved to another location.
func MovedError(from, to string, at time.Time) *StoreError {
	return &StoreError{
		Location: from,
		Problem:  ProblemMoved,
		Detail:   fmt.Sprintf("was moved to %s at %s", to, at.Local().Format(time.DateTime+" MST")),
		Remedy:   "name that place in its stead",
	}
}

// LockedError reports that someone else holds a lock of the same parts.
type LockedError struct {
	Location string
	Holder   LockInfo
	Part     Part // of the holder, which is in the way

	// Running: the holder's process was found on this machine. Otherwise
	// nothing is known about it; it may run elsewhere.
	Running bool
}

func (e *LockedError) Error() string {
	h := e.Holder
	var b strings.Builder
	what := "the state"
	if name := e.Part.Name(); name != "" {
		what = name + " in the state"
	}
	fmt.Fprintf(&b, "%s of deployment %q in %s is locked by %s on %s (process %d) for %q since %s",
		what, h.Deployment, e.Location, h.Owner, h.Host, h.PID, h.Operation, h.Started.Local().Format(time.DateTime+" MST"))
	if h.Seen.After(h.Started) {
		fmt.Fprintf(&b, ", last write at %s", h.Seen.Local().Format(time.DateTime+" MST"))
	}
	if e.Running {
		b.WriteString("; that process is still running: wait for it to end, or stop it")
		return b.String()
	}
	b.WriteString("; whether that process still runs cannot be seen from here: wait for it to end, or ")
	if !h.Until.IsZero() {
		fmt.Fprintf(&b, "until its lease ends, at %s unless it renews that, or ", h.Until.Local().Format(time.DateTime+" MST"))
	}
	fmt.Fprintf(&b, "if it is certainly gone, remove its lock %s", h.ID)
	return b.String()
}

// LockLostError reports that a lock is not held any more by its user.
type LockLostError struct {
	Location   string
	Deployment string
	ID         string
	Now        *LockInfo // the present holder; nil if nobody
}

func (e *LockLostError) Error() string {
	now := "nobody holds it now"
	if e.Now != nil {
		now = fmt.Sprintf("%s on %s (process %d) holds it now for %q", e.Now.Owner, e.Now.Host, e.Now.PID, e.Now.Operation)
	}
	return fmt.Sprintf("lock %s on the state of deployment %q in %s was given back or removed, %s; nothing was written",
		e.ID, e.Deployment, e.Location, now)
}

// LockIDError reports that the lock to be removed is not there.
type LockIDError struct {
	Location   string
	Deployment string
	ID         string    // asked for
	Now        *LockInfo // the present holder; nil if nobody
}

func (e *LockIDError) Error() string {
	if e.Now == nil {
		return fmt.Sprintf("the state of deployment %q in %s is not locked", e.Deployment, e.Location)
	}
	return fmt.Sprintf("the state of deployment %q in %s is not locked by %s but by %s: %s on %s (process %d) for %q since %s",
		e.Deployment, e.Location, e.ID, e.Now.ID, e.Now.Owner, e.Now.Host, e.Now.PID, e.Now.Operation,
		e.Now.Started.Local().Format(time.DateTime+" MST"))
}

// StaleError reports that the state has moved on since it was read.
type StaleError struct {
	Location   string
	Deployment string
	Want       Base // of the state that the caller has read
	Have       Base // of the stored state
}

func (e *StaleError) Error() string {
	if e.Want.Lineage != e.Have.Lineage && e.Have.Serial > 0 && e.Want.Serial > 0 {
		return fmt.Sprintf("the state of deployment %q in %s has lineage %s, but this operation is based on a state with lineage %s:"+
			" they are different states", e.Deployment, e.Location, e.Have.Lineage, e.Want.Lineage)
	}
	return fmt.Sprintf("the state of deployment %q in %s is at serial %d, but this operation is based on serial %d:"+
		" the state has changed since; plan again", e.Deployment, e.Location, e.Have.Serial, e.Want.Serial)
}

// SerialError reports that a serial was asked for that does not exist.
type SerialError struct {
	Location   string
	Deployment string
	Serial     int64 // asked for
	Newest     int64
	Dropped    bool // it was there once, and its records were dropped
}

func (e *SerialError) Error() string {
	if e.Dropped {
		return fmt.Sprintf("the records of serial %d of the state of deployment %q in %s were dropped when its history was compacted",
			e.Serial, e.Deployment, e.Location)
	}
	return fmt.Sprintf("the state of deployment %q in %s has no serial %d; the newest is %d",
		e.Deployment, e.Location, e.Serial, e.Newest)
}
