// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package deployment has the stored state of one deployment of a stack: it is read and locked here,
// changed as a whole, and saved piece by piece while something is applied.
package deployment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/telemetry"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// The codes of failures for which a caller may know a remedy of its own.
const (
	// CodeReadOnly is of a state that this user cannot change where it is.
	CodeReadOnly fault.Code = "state/read-only"

	// CodeLocked is of failures for which waiting for the lock would help.
	CodeLocked fault.Code = "deployment/locked"

	// CodeLeftLocked is of a lock that may have been left behind. Its name is the ID of the lock.
	CodeLeftLocked fault.Code = "deployment/left-locked"

	// CodeOccupied is of an address that something else has. Its name is the address.
	CodeOccupied fault.Code = "deployment/occupied"

	// CodeNotDocument is of files in the place of the document of a state.
	CodeNotDocument fault.Code = "deployment/not-document"

	// CodeNotInState is of addresses for which a list of the state's contents would help.
	CodeNotInState fault.Code = "deployment/not-in-state"

	// CodeNotPushed is of documents that take the place of a state only by force.
	CodeNotPushed fault.Code = "deployment/not-pushed"
)

// Deployment is where the state of a deployment is. It is used by one goroutine at a time.
type Deployment struct {
	Name  string
	Store statestore.Store

	LockTimeout time.Duration // how long to wait for somebody else's lock
	Notify      notice.Func
	Declared    bool // by deployment files, so that its name is not misspelt

	announced bool // it was said that it is new, or that it is not
}

// Stored is a state as it was read, and the lock if it is to be changed.
type Stored struct {
	*statestore.Snapshot
	State      *stackstate.State
	Deployment string // whose it is

	// Begun has the progress of the saved plans that were applied in part and can go on, by their
	// identities: nobody else has changed since what they were made from.
	Begun map[string]stackplan.Progress

	// CutOff names the journals of applies that were cut off, of the locked parts, and Others those of
	// all other applies that go on or were cut off: all of them if the state is not locked. Those of
	// engines without a journal have no name.
	CutOff, Others []string

	// Copies are the contents of journals in CutOff, as far as the state has them.
	Copies map[string][]byte

	Remembered Remembered // of the locked parts, or all

	store      statestore.Store
	operations operations
	lock       *Lock                   // nil when the state was only read
	lockedBy   *statestore.LockedError // whose lock kept this from being locked, too; only for operations that change nothing
}

// Plan is the operation that a lock is held for which changes nothing.
const Plan = "plan"

// Read reads the state without locking it.
func (d *Deployment) Read(ctx context.Context) (*Stored, error) { return d.read(ctx, &Stored{}) }

// read reads the state, whose lock is known.
func (d *Deployment) read(ctx context.Context, stored *Stored) (*Stored, error) {
	snapshot, err := d.Store.Read(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	if snapshot.Lineage == "" {
		if err := d.announceNew(ctx); err != nil {
			return nil, err
		}
	}
	stored.Deployment, stored.store = d.Name, d.Store
	if err := stored.decode(snapshot); err != nil {
		return nil, err
	}
	return stored, nil
}

// HasDone reports whether all of a saved plan was applied, and nothing since in the parts that it
// was made from. A plan without an identity never was.
func (t *Stored) HasDone(plan string) bool {
	known := t.operations.plans[plan]
	return plan != "" && known != nil && known.Done
}

func (t *Stored) decode(snapshot *statestore.Snapshot) error {
	state, err := Decode(snapshot.Records)
	if err != nil {
		return err
	}
	known, err := decodeOperations(snapshot.Records)
	if err != nil {
		return err
	}
	t.Snapshot, t.State, t.operations, t.Begun = snapshot, state, known, known.begun()
	if t.Remembered, err = decodeRemembered(snapshot.Records, t.lock.locked()); err != nil {
		return err
	}
	t.CutOff, t.Others = known.journalsOf(t.lock.locked())
	if t.lock == nil { // they may go on
		t.CutOff, t.Others = nil, append(t.CutOff, t.Others...)
	}
	t.Copies = map[string][]byte{}
	for _, journal := range known.journals {
		if slices.Contains(t.CutOff, journal.Name) {
			for _, key := range journal.lines {
				t.Copies[journal.Name] = append(t.Copies[journal.Name], snapshot.Records[key]...)
			}
		}
	}
	return nil
}

// announceNew says, once, that there is no state of this deployment where there are some of others.
func (d *Deployment) announceNew(ctx context.Context) error {
	if d.announced || d.Declared {
		return nil
	}
	d.announced = true
	others, err := d.Store.Deployments(ctx)
	if err == nil && len(others) > 0 {
		slices.Sort(others)
		d.Notify.Send(notice.NewDeployment{Name: d.Name, Others: others})
	}
	return err
}

// Decode returns the state that records hold.
func Decode(records map[string][]byte) (*stackstate.State, error) {
	state, err := stackstate.FromRecords(records)
	if err == nil {
		state.Discarded = slices.DeleteFunc(state.Discarded, isProgressKey) // each serial sees to them
		return state, nil
	}
	if errors.As(err, new(*stackstate.UnknownKindError)) {
		return nil, failure.Error("State from a newer version", "The state cannot be used: %s. It was written by a newer version of cairn: use "+
			"that one.", err)
	}
	return nil, failure.Error("Unreadable state", "The records of the state cannot be understood: %s.", err)
}

// Lock takes the lock, for which it waits as long as it may, and reads the state (rule L3 of
// package cli). The caller unlocks it.
func (d *Deployment) Lock(ctx context.Context, request statestore.LockRequest) (*Stored, error) {
	lock, err := d.awaitLock(ctx, request)
	if err != nil {
		return nil, err
	}
	for _, dead := range lock.TakenFrom() {
		d.Notify.Send(notice.LockTakenOver{From: dead})
	}
	stored, err := d.read(ctx, &Stored{lock: &Lock{lock, request.Parts}})
	if err != nil {
		return nil, errors.Join(err, lock.Unlock(ctx))
	}
	held.Store(stored.lock, nil)
	return stored, nil
}

// lockInterval is how long passes between two tries to get a lock.
const lockInterval = 500 * time.Millisecond

func (d *Deployment) awaitLock(ctx context.Context, request statestore.LockRequest) (_ statestore.Lock, err error) {
	ctx, span := telemetry.Lock(ctx, d.Name)
	defer func() {
		if err != nil {
			span.Fail("not locked")
		}
		span.End()
	}()
	var deadline time.Time // from when it was found locked
	for {
		lock, err := d.Store.Lock(ctx, d.Name, request)
		locked, ok := errors.AsType[*statestore.LockedError](err)
		if !ok || d.LockTimeout <= 0 {
			return lock, err
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(d.LockTimeout)
			d.Notify.Send(notice.WaitingForLock{AtMost: d.LockTimeout, Holder: locked.Holder, Part: locked.Part.Name()})
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, failure.Error("Operation interrupted", "The lock of the state was waited for. Nothing was changed.")
		case <-time.After(min(left, lockInterval)):
		}
	}
}

// LockToPlan is [Deployment.Lock] for an operation that changes nothing itself, of the parts that
// it reads of a state: one that doesn't exist is not created, and one that can't be written, or of
// which somebody else has locked some of these parts, is only read.
func (d *Deployment) LockToPlan(ctx context.Context, parts func(*stackstate.State) []statestore.Part) (*Stored, error) {
	stored, err := d.Read(ctx)
	if err != nil {
		return nil, err
	}
	if stored.Lineage == "" {
		// The first apply has the lock before it has written anything.
		holders, err := d.Store.Holders(ctx, d.Name)
		if err != nil || len(holders) == 0 {
			return stored, err
		}
	}
	locked, err := d.Lock(ctx, statestore.LockRequest{Operation: Plan, Parts: parts(stored.State)})
	storeErr, broken := errors.AsType[*statestore.StoreError](err)
	if broken && (storeErr.Problem == statestore.ProblemReadOnly || storeErr.Problem == statestore.ProblemAccess) {
		return stored, nil
	}
	lockedErr, isLocked := errors.AsType[*statestore.LockedError](err)
	if d.LockTimeout <= 0 && isLocked {
		stored, err := d.Read(ctx) // for it may have changed until it was found locked
		if err != nil {
			return nil, err
		}
		stored.lockedBy = lockedErr
		return stored, nil
	}
	return locked, err
}

// ReadBeside is [Deployment.Read] that takes notice of who has locked the state before it was read,
// as a plan made from it may be out of date.
func (d *Deployment) ReadBeside(ctx context.Context) (*Stored, error) {
	holders, err := d.Store.Holders(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	stored, err := d.Read(ctx)
	if err == nil && len(holders) > 0 {
		stored.lockedBy = &statestore.LockedError{Holder: holders[0]}
	}
	return stored, err
}

// MayBeStale warns of plans made from a state that somebody else may be changing.
func (t *Stored) MayBeStale() hcl.Diagnostics {
	if t.lockedBy == nil || t.lockedBy.Holder.Operation == Plan {
		return nil
	}
	return hcl.Diagnostics{failure.With(CodeLocked, failure.Warning("State change in progress",
		"The state is locked: %s. This plan is made from the state as it was when it was read, and may be out of date already.",
		DescribeHolder(&t.lockedBy.Holder)))}
}

// MaySavePlan refuses to save a plan of a state of which only a part is known: when the rest is
// there, nothing would distinguish it from the whole.
func (t *Stored) MaySavePlan() error {
	if t.lockedBy == nil || !t.Unfinished() {
		return nil
	}
	return hcl.Diagnostics{failure.With(CodeLocked, failure.New("State change in progress",
		"The plan cannot be saved, for it is out of date as soon as that operation goes on: %s. Plan when it has ended.",
		DescribeHolder(&t.lockedBy.Holder)))}
}

// DescribeHolder describes the holder of a lock.
func DescribeHolder(holder *statestore.LockInfo) string {
	return fmt.Sprintf("%s on %s (process %d) has it for %q since %s", safetext.Name(holder.Owner), safetext.Name(holder.Host), holder.PID,
		safetext.Name(holder.Operation), holder.Started.Local().Format("2006-01-02 15:04:05 MST"))
}

// Locked reports whether the state is locked, so that it can be changed.
func (t *Stored) Locked() bool { return t.lock != nil }

// Lock returns the lock of the state, nil if that was only read.
func (t *Stored) Lock() *Lock { return t.lock }

// Secret returns the key that signs the applies that are begun with this state; nil if none were.
func (t *Stored) Secret(ctx context.Context) ([]byte, error) {
	return t.store.Secret(ctx, t.Deployment)
}

// MakeSecret is [Stored.Secret] of a locked state with which something may be begun.
func (t *Stored) MakeSecret(ctx context.Context) ([]byte, error) { return t.lock.Secret(ctx) }

// At returns the state as it was at the end of a serial.
func (t *Stored) At(ctx context.Context, serial int64) (*stackstate.State, error) {
	state, _, err := t.readSerial(ctx, serial)
	return state, err
}

// readSerial returns the state as it was at the end of a serial, with its records.
func (t *Stored) readSerial(ctx context.Context, serial int64) (*stackstate.State, map[string][]byte, error) {
	old, err := t.store.ReadSerial(ctx, t.Deployment, serial)
	if err != nil {
		return nil, nil, err
	}
	state, err := Decode(old.Records)
	return state, old.Records, err
}

// Reload reads the state again, under the same lock.
func (t *Stored) Reload(ctx context.Context) error {
	snapshot, err := t.store.Read(ctx, t.Deployment)
	if err != nil {
		return err
	}
	return t.decode(snapshot)
}

// Unlock gives the lock back, if there is one.
func (t *Stored) Unlock(ctx context.Context) error {
	if t == nil || t.lock == nil {
		return nil
	}
	lock := t.lock
	t.lock = nil
	held.Delete(lock)
	return lock.Unlock(ctx)
}

// LostWork returns what applies that were cut off in other working directories than the one with
// this identity were about to change: resource instances, by component instances.
func (t *Stored) LostWork(directory string) map[string][]string {
	lost := map[string][]string{}
	for _, journal := range t.operations.journals {
		if slices.Contains(t.CutOff, journal.Name) && journal.Directory != directory {
			maps.Copy(lost, journal.touched)
		}
	}
	return lost
}

// Compact drops the history before a serial where the store can do that, under the lock; see
// [statestore.Compactor].
func (t *Stored) Compact(ctx context.Context, before int64) (removed int, err error) {
	compactor, ok := t.lock.Lock.(statestore.Compactor)
	if !ok {
		return 0, failure.Error("All serials stay",
			"States in files and in databases keep all serials; only those on object storage can be compacted.")
	}
	return compactor.Compact(ctx, before)
}

// held are the locks of this process.
var held sync.Map // of *Lock

// UnlockUnchanged gives back the locks of this process. It is for a program that ends without
// unwinding, and has begun nothing that a lock would tell of. One that was taken from a program
// that had died stays: it tells of the work of that.
func UnlockUnchanged(ctx context.Context) {
	held.Range(func(key, _ any) bool {
		if lock := key.(*Lock); len(lock.TakenFrom()) == 0 {
			_ = lock.Unlock(ctx) //nolint:errcheck // the next program takes it over
		}
		return true
	})
}

// Recover changes the whole state to the result of applies that were cut off, as one serial, from
// which on it remembers something else. Begun is the plan that all of these belong to; nil for
// none.
func (t *Stored) Recover(ctx context.Context, want *stackstate.State, begun *Begun, remembered Remembered) error {
	changes, err := stackstate.Diff(t.State, want)
	if err != nil {
		return fmt.Errorf("encoding the state: %w", err)
	}
	more, err := t.Remembered.changes(remembered, t.lock.locked())
	if err != nil {
		return err
	}
	progress, err := t.progress(begun)
	if err != nil {
		return err
	}
	if err := t.writeAll(ctx, "recover", merged(merged(changes, progress), more)); err != nil {
		return err
	}
	t.State, t.Remembered = want, remembered
	return nil
}

// progress returns the records of operations for a serial of a plan that was begun, nil for none.
func (t *Stored) progress(begun *Begun) (map[string][]byte, error) {
	dropped := t.operations.withoutOthers(t.lock.locked(), "")
	if begun == nil {
		return dropped, nil
	}
	records, err := begun.records(t.lock.locked())
	return merged(dropped, records), err
}

// Forget makes the state forget the journals of the applies that were cut off, and remember
// something else.
func (t *Stored) Forget(ctx context.Context, remembered Remembered) error {
	changes, err := t.Remembered.changes(remembered, t.lock.locked())
	if err != nil {
		return err
	}
	for _, journal := range t.operations.journals {
		if !slices.Contains(t.CutOff, journal.Name) {
			continue
		}
		for _, key := range journal.keys {
			changes[key] = nil
		}
	}
	if err := t.writeAll(ctx, "recover", changes); err != nil {
		return err
	}
	t.Remembered = remembered
	return nil
}

// Write writes changes of records, as one serial. A nil record is removed. What is remembered
// stays, whatever the changes say, as those to an older state.
func (t *Stored) Write(ctx context.Context, operation string, changes map[string][]byte) error {
	all := maps.Clone(changes)
	maps.DeleteFunc(all, func(key string, _ []byte) bool { return isRememberedKey(key) })
	all = merged(all, withoutProgress(changes)) // of an older state, that this one is to become
	progress, err := t.progress(nil)
	if err != nil {
		return err
	}
	return t.writeAll(ctx, operation, merged(all, progress))
}

func merged(a, b map[string][]byte) map[string][]byte {
	all := map[string][]byte{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

// writeAll writes changes, with all of records of operations among them, as one serial.
func (t *Stored) writeAll(ctx context.Context, operation string, all map[string][]byte) error {
	writer, err := t.begin(ctx, operation, all)
	if err != nil {
		return err
	}
	t.Lineage, t.Serial = writer.Base().Lineage, writer.Base().Serial
	t.CutOff, t.Copies = nil, nil
	maps.Copy(t.Records, all)
	maps.DeleteFunc(t.Records, func(_ string, value []byte) bool { return value == nil })
	if t.operations, err = decodeOperations(t.Records); err != nil {
		return err
	}
	t.Begun = t.operations.begun()
	return writer.Commit(ctx)
}

// begin opens a serial on the state that was read, or where others change other parts of it, on a
// later one: the locked parts are the same there.
func (t *Stored) begin(ctx context.Context, operation string, changes map[string][]byte) (statestore.Writer, error) {
	for base := t.Base(); ; {
		writer, err := t.lock.Begin(ctx, base, operation, changes)
		stale, isStale := errors.AsType[*statestore.StaleError](err)
		if !isStale || t.lock.Alone() || base.Lineage != "" && stale.Have.Lineage != base.Lineage {
			return writer, err
		}
		base = stale.Have
	}
}

// Diagnostics returns the diagnostics of an error, errors of the state store explained.
func Diagnostics(err error) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if errors.As(err, &diags) {
		return diags
	}
	if diag := storeProblem(err); diag != nil {
		return hcl.Diagnostics{diag}
	}
	return failure.Diagnostics(err)
}

// storageSummaries are for problems that are none of the state itself.
var storageSummaries = map[statestore.Problem]string{
	statestore.ProblemUnreachable: "State unreachable",
	statestore.ProblemMoved:       "State moved",
}

// storeProblem explains an error of the state store. It is nil for other errors.
func storeProblem(err error) *hcl.Diagnostic {
	var (
		locked *statestore.LockedError
		lost   *statestore.LockLostError
		id     *statestore.LockIDError
		stale  *statestore.StaleError
		serial *statestore.SerialError
		broken *statestore.StoreError
	)
	summary := ""
	switch {
	case errors.As(err, &locked):
		summary = "State locked"
	case errors.As(err, &lost):
		summary = "Lock lost"
	case errors.As(err, &id):
		summary = "No such lock"
	case errors.As(err, &stale):
		summary = "State changed meanwhile"
	case errors.As(err, &serial):
		summary = "No such serial"
	case errors.As(err, &broken):
		summary = cmp.Or(storageSummaries[broken.Problem], "Unusable state")
	default:
		return nil
	}
	diag := failure.New(summary, "%s", failure.Sentences(err.Error()))
	switch {
	case locked != nil && locked.Running:
		diag.Extra = CodeLocked
	case locked != nil:
		diag.Extra = fault.Named{Code: CodeLeftLocked, Names: []string{locked.Holder.ID}}
	case broken != nil && broken.Problem == statestore.ProblemReadOnly:
		diag.Extra = CodeReadOnly
	}
	return diag
}
