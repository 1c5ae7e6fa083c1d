// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Store keeps the states of the deployments of one stack.
//
// All methods are safe for concurrent use, also by several processes on the
// same store. The Store errors with [*StoreError] where the storage itself is at fault.
type Store interface {
	// Read returns the current state of a deployment, including records of an operation that is still
	// running or was killed: [Version.Unfinished] reports. Where nothing was ever stored, lineage is
	// empty, the serial 0 and there are no records.
	Read(ctx context.Context, deployment string) (*Snapshot, error)

	// ReadSerial returns the state as it was at the end of a serial. Serial 0
	// is the empty state before the first.
	//
	// Errors:
	//   - [*SerialError]: there is no such serial.
	ReadSerial(ctx context.Context, deployment string, serial int64) (*Snapshot, error)

	// History returns all serials of a deployment, oldest first.
	History(ctx context.Context, deployment string) ([]Version, error)

	// Revisions returns the values that some records have had, by their keys. Of other records nothing
	// is read, whatever their number and that of the serials, where the store has an index of its
	// records; one that is a log reads that once. Each value is made sure of, but not that none is
	// missing: this is no way to read a state.
	Revisions(ctx context.Context, deployment string, keys []string) (map[string]Revisions, error)

	// Deployments returns the names of the deployments that have serials, sorted.
	Deployments(ctx context.Context) ([]string, error)

	// Newest returns the newest serial of each deployment that has one, by name. While that is the
	// same and finished, so is the result of Read for the deployment. One query answers for all of
	// them, which makes sure of no record and of no seal.
	Newest(ctx context.Context) (map[string]Newest, error)

	// Lock takes a lock of the deployment, or of parts of it, or fails at once.
	//
	// Errors:
	//   - [*LockedError]: someone else has locked one of these parts.
	Lock(ctx context.Context, deployment string, request LockRequest) (Lock, error)

	// Holders returns the holders of the deployment's locks, in the order in which they got them.
	Holders(ctx context.Context, deployment string) ([]LockInfo, error)

	// Locks returns the holders of all locks, by the names of their deployments, in the order of
	// Holders.
	Locks(ctx context.Context) ([]LockInfo, error)

	// Secret returns the secret that [Lock.Secret] has made, nil if it has not yet.
	Secret(ctx context.Context, deployment string) ([]byte, error)

	// ForceUnlock removes the lock with an ID, which the caller has seen, whoever holds it.
	//
	// Errors:
	//   - [*LockIDError]: that lock is not there.
	ForceUnlock(ctx context.Context, deployment, lockID string) error

	// MarkMoved notes that the states are at another location from now on, if these are still the
	// newest serials: each later call of another method fails with [ProblemMoved] and that location.
	// The caller has locked all deployments as a whole.
	//
	// Errors:
	//   - [ErrChanged]: there are other serials, or deployments.
	MarkMoved(ctx context.Context, to string, newest map[string]Newest) error

	// Check reads everything there is and returns an error if any of it is
	// damaged.
	Check(ctx context.Context) error

	// Close releases the store. Locks stay: unlock first.
	Close() error
}

// Lock is the exclusive right to change the state of one deployment, or parts of it. Which records
// belong to which part is for its holder to know.
type Lock interface {
	// ID names this lock in [Store.ForceUnlock].
	ID() string

	// ReserveUsed reports whether the disk was full, so that the space that the
	// lock kept back had to be given up ([LockRequest.Reserve]). Nothing was
	// lost, and nothing more should be done that must be saved.
	ReserveUsed() bool

	// TakenFrom returns the holders whose locks were removed for this one (rule S4), as their parts
	// conflict with its own. They are dead, or, if a lock had a lease, that has ended.
	TakenFrom() []LockInfo

	// Begin opens the serial after base and writes its first changes, all or nothing: a process that
	// finds the serial finds them, such as the record of its owner. On a deployment that has no serial
	// yet, base has serial 0 and its lineage is adopted, or made up if empty. A writer begun earlier
	// under this lock can write no more. One of the lock of other parts can (see [Writer]).
	//
	// Errors:
	//   - [*StaleError]: base is not the current lineage and serial.
	//   - [*LockLostError]: someone removed the lock.
	Begin(ctx context.Context, base Base, operation string, changes map[string][]byte) (Writer, error)

	// Import adds the next serial as it was in another store: with its number, its description and the
	// changes since the serial before. The first one brings the lineage.
	//
	// Errors:
	//   - [*StaleError]: the deployment is not at the serial before, or of another lineage.
	Import(ctx context.Context, lineage string, version Version, changes map[string][]byte) error

	// Secret returns random bytes that belong to the deployment, the same ones each time, and are kept
	// nowhere else. With them a program can find out whether something outside of the store was made
	// by one that had this lock.
	Secret(ctx context.Context) ([]byte, error)

	// AdoptSecret makes this the secret if there is none yet, as of a state that is put in the place
	// of one that was lost.
	AdoptSecret(ctx context.Context, secret []byte) error

	// Unlock gives the lock back. It does so even when ctx has ended.
	//
	// Errors:
	//   - [*LockLostError]: someone removed the lock, or it was given back before.
	Unlock(ctx context.Context) error
}

// Writer writes records into one serial. Its methods are safe for concurrent use, and they finish
// their work even when ctx ends: state that describes real infrastructure must not be lost to an
// interrupt.
//
// The writer of a lock of parts goes on in a new serial of its own, of the same operation, where
// another operation has opened one since: so each serial is of one operation, and the newest serial
// has all that was written. The serial that it leaves counts as finished then.
type Writer interface {
	// Base returns the lineage and the serial being written.
	Base() Base

	// Write stores the records in changes, all or none, and deletes those
	// whose value is nil. They are durable when it returns nil (rule S1).
	// Values that are already stored cost nothing.
	//
	// Errors:
	//   - [*LockLostError]: the lock was removed.
	//   - [*StaleError]: a later serial was begun under this lock.
	//   - [ErrCommitted]: after Commit.
	Write(ctx context.Context, changes map[string][]byte) error

	// Commit notes that the operation reached its end. Others may have opened later serials.
	Commit(ctx context.Context) error
}

// Base identifies one version of one state.
type Base struct {
	Lineage string // identity of the whole history; empty before the first serial
	Serial  int64  // 1 for the first
}

// NextBase returns the serial after another one. The first has a new lineage if none is given.
func NextBase(base Base) Base {
	next := Base{Lineage: base.Lineage, Serial: base.Serial + 1}
	if next.Lineage == "" {
		next.Lineage = uuid.NewString() // as Terraform's lineages are
	}
	return next
}

// Newest is the newest serial of a deployment.
type Newest struct {
	Base
	Finished bool // otherwise its records may still change
}

// Snapshot is the state of one deployment at one serial.
type Snapshot struct {
	Version // zero where nothing is stored
	Lineage string

	// Records is never nil, and belongs to the caller.
	Records map[string][]byte
}

// Base returns the base with which [Lock.Begin] builds on the snapshot.
func (s *Snapshot) Base() Base {
	return Base{Lineage: s.Lineage, Serial: s.Serial}
}

// Version describes one serial of a deployment.
type Version struct {
	Serial    int64
	Operation string // as given to [Lock.Begin]
	Owner     string // user
	Host      string
	Started   time.Time
	Finished  time.Time // zero until committed
	Changed   int64     // records added, replaced or deleted
	Total     int64     // records at its end
}

// Unfinished reports whether the operation has not committed: it is still
// running, or was killed.
func (v Version) Unfinished() bool {
	return v.Serial > 0 && v.Finished.IsZero()
}

// Changes returns the changes with which [Writer.Write] turns have into want.
func Changes(have, want map[string][]byte) map[string][]byte {
	changes := make(map[string][]byte)
	for key := range have {
		if _, ok := want[key]; !ok {
			changes[key] = nil
		}
	}
	for key, value := range want {
		if value == nil {
			value = []byte{}
		}
		if old, ok := have[key]; !ok || !bytes.Equal(old, value) {
			changes[key] = value
		}
	}
	return changes
}

// CheckName fails for a name that no deployment may have.
func CheckName(deployment string) error {
	if deployment == "" || !utf8.ValidString(deployment) || strings.ContainsRune(deployment, 0) {
		return fmt.Errorf("lock the state: %q is not a name for a deployment", deployment)
	}
	return nil
}

// CheckKeys fails for changes of a record without a name.
func CheckKeys(changes map[string][]byte) error {
	if _, ok := changes[""]; ok {
		return errors.New("write to the state: a record has an empty key; this is a bug in cairn")
	}
	return nil
}

// Compactor is a [Lock] in a store whose history can be compacted.
type Compactor interface {
	Lock

	// Compact drops the records of the serials before one, and returns the number of objects that were
	// removed. What is younger than a day stays. The descriptions of all serials stay.
	//
	// Errors:
	//   - [*SerialError]: there is no such serial.
	Compact(ctx context.Context, before int64) (removed int, err error)
}
