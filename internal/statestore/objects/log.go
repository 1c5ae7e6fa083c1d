// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairnstacks/cairn/internal/objectstore"
	"github.com/cairnstacks/cairn/internal/statestore"
	statelogv1 "github.com/cairnstacks/cairn/proto/cairn/statelog/v1"
)

// log is the log of a deployment, as far as this process has read it.
type log struct {
	place  *place
	folder string // with a slash at its end

	// turn is held while the log is read or written. The other fields are of its holder.
	turn    chan struct{}
	known   *model
	contact time.Time // when the service last said so, by the calendar, which goes on while a machine sleeps

	// Since the newest snapshot.
	entries int
	bytes   int64
	size    int64 // of that snapshot

	added func() // called after each entry that is added to what is known; nil for none
}

const (
	// A page is more than the entries between two snapshots, mostly.
	pageSize = 200

	// requests is how many objects are read at a time.
	requests = 16

	// A snapshot is made after so many entries if it is not much larger than these, and after the
	// other number in any case: writing snapshots costs less than the entries, and reading has an end.
	fewEntries  = 32
	manyEntries = 128

	// trusted is how long what is known holds without a look at the log: entries that are older may be
	// removed, and the next one would be created anew.
	trusted = time.Hour
)

func newLog(p *place, deployment string) *log {
	return &log{
		place: p, folder: p.prefix + "deployments/" + escape(deployment) + "/",
		turn: make(chan struct{}, 1), known: newModel(deployment),
	}
}

// within runs a function in the turn of the log.
func (l *log) within(fn func() error) error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	return fn()
}

// refresh reads what others have written since.
func (l *log) refresh(ctx context.Context) error {
	const attempts = 5
	for attempt := 1; ; attempt++ {
		err := l.refreshOnce(ctx)
		if err == nil {
			l.contact = calendar()
		}
		if !errors.Is(err, objectstore.ErrMissing) {
			return err
		}
		// Old entries are removed when a log is compacted.
		if attempt == attempts {
			return l.place.corrupt(fmt.Sprintf("an entry in the log of deployment %q is missing", l.known.deployment))
		}
	}
}

func (l *log) refreshOnce(ctx context.Context) error {
	there, err := l.list(ctx, l.known.number)
	switch {
	case err != nil:
		return err
	case there.newest < l.known.number:
		return l.place.corrupt(fmt.Sprintf("the log of deployment %q ends with entry %d, and had entry %d",
			l.known.deployment, there.newest, l.known.number))
	case there.newest == l.known.number:
		return nil
	}
	if there.snapshot > l.known.number && (there.newest-l.known.number > fewEntries || there.first > l.known.number+1) {
		if err := l.load(ctx, there.snapshot); err != nil {
			return err
		}
	}
	return l.follow(ctx, there.newest)
}

// listed is the newest end of a log.
type listed struct {
	newest   int64 // entry; 0 if there is none
	first    int64 // the first of the entries that go on without a gap to the newest, as far as they are listed
	snapshot int64 // the newest one; 0 if there is none
}

// list lists a log from its end to the entry after known, or to a snapshot.
func (l *log) list(ctx context.Context, known int64) (there listed, err error) {
	var token []byte
	for {
		names, next, err := l.place.List(ctx, l.folder, token, pageSize)
		if err != nil {
			return there, err
		}
		for _, name := range names {
			number, kind, ok := parseName(l.folder, name)
			switch {
			case !ok:
			case kind == snapshotKind:
				there.snapshot = max(there.snapshot, number)
			case there.newest == 0:
				there.newest, there.first = number, number
			case number == there.first-1:
				there.first = number
			}
		}
		if next == nil || there.snapshot > 0 || there.first > 0 && there.first <= known+1 {
			return there, nil
		}
		token = next
	}
}

// load reads a snapshot.
func (l *log) load(ctx context.Context, number int64) error {
	m, size, err := l.readSnapshot(ctx, number)
	if err != nil {
		return err
	}
	l.known, l.entries, l.bytes, l.size = m, 0, 0, size
	return nil
}

func (l *log) readSnapshot(ctx context.Context, number int64) (*model, int64, error) {
	object, err := l.place.Read(ctx, objectName(l.folder, number, snapshotKind))
	if err != nil {
		return nil, 0, err
	}
	s := &statelogv1.Snapshot{}
	err = unframe(object, s)
	if err == nil {
		err = checkFormat(s.GetFormatVersion())
	}
	if err == nil && (s.GetNumber() != number || s.GetDeployment() != l.known.deployment) {
		err = errDamaged
	}
	var m *model
	if err == nil {
		m, err = toModel(s)
	}
	if err != nil {
		return nil, 0, l.place.unreadable(fmt.Sprintf("snapshot %d of deployment %q", number, l.known.deployment), err)
	}
	return m, int64(len(object)), nil
}

// follow reads the entries up to one.
func (l *log) follow(ctx context.Context, newest int64) error {
	for l.known.number < newest {
		numbers := make([]int64, 0, requests)
		for n := l.known.number + 1; n <= newest && len(numbers) < cap(numbers); n++ {
			numbers = append(numbers, n)
		}
		objects := make([][]byte, len(numbers))
		group, within := errgroup.WithContext(ctx)
		for i, number := range numbers {
			group.Go(func() (err error) {
				objects[i], err = l.place.Read(within, objectName(l.folder, number, entryKind))
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for i, object := range objects {
			if err := l.add(numbers[i], object); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds an entry to what is known.
func (l *log) add(number int64, object []byte) error {
	e := &statelogv1.Entry{}
	err := unframe(object, e)
	if err == nil {
		err = l.known.apply(e, sha256.Sum256(object))
	}
	if err != nil {
		return l.place.unreadable(fmt.Sprintf("entry %d of deployment %q", number, l.known.deployment), err)
	}
	l.entries, l.bytes = l.entries+1, l.bytes+int64(len(object))
	if l.added != nil {
		l.added()
	}
	return nil
}

// errNothing says that there is nothing to write.
var errNothing = errors.New("nothing to write")

// append adds the entry that a function makes for what is known. If others have written meanwhile,
// their entries are read, and the function is called again. It does not stop when ctx ends: what it
// writes must not be lost to an interrupt. The caller has the turn.
func (l *log) append(ctx context.Context, fresh bool, next func(m *model) (*statelogv1.Entry, error)) error {
	ctx = context.WithoutCancel(ctx)
	if since := calendar().Sub(l.contact); !fresh || since < 0 || since > trusted {
		if err := l.refresh(ctx); err != nil {
			return err
		}
	}
	for {
		e, err := next(l.known)
		if errors.Is(err, errNothing) {
			return nil
		}
		if err != nil {
			return err
		}
		e.FormatVersion, e.Id, e.Deployment, e.Number = formatVersion, rand.Text(), l.known.deployment, l.known.number+1
		e.Time = statestore.Now().UnixMicro()
		if l.known.number > 0 {
			e.Previous = l.known.hash[:]
		}
		object, err := frame(e)
		if err != nil {
			return err
		}
		mine, err := l.create(ctx, e, object)
		if err != nil {
			return err
		}
		if mine {
			l.contact = calendar()
			if err := l.add(e.GetNumber(), object); err != nil {
				return err
			}
			l.summarise(ctx)
			return nil
		}
		if err := l.refresh(ctx); err != nil {
			return err
		}
	}
}

// calendar returns the time without the monotonic clock.
func calendar() time.Time { return time.Now().Round(0) }

// create creates the object of an entry. It reports false if there is one of somebody else.
func (l *log) create(ctx context.Context, e *statelogv1.Entry, object []byte) (mine bool, err error) {
	name := objectName(l.folder, e.GetNumber(), entryKind)
	err = l.place.Create(ctx, name, object)
	if !errors.Is(err, objectstore.ErrExists) {
		return err == nil, err
	}
	// The answer to an attempt before this one may have been lost (rule O3).
	there, err := l.place.Read(ctx, name)
	if err != nil {
		return false, err
	}
	return sha256.Sum256(there) == sha256.Sum256(object), nil
}

// summarise makes a snapshot if it is time for one.
func (l *log) summarise(ctx context.Context) {
	if l.entries < fewEntries || l.bytes < l.size/2 && l.entries < manyEntries || l.known.moved != "" {
		return
	}
	object, err := frame(fromModel(l.known))
	if err != nil {
		return
	}
	// Without it, reading takes more requests; whoever writes next makes one.
	err = l.place.Create(ctx, objectName(l.folder, l.known.number, snapshotKind), object)
	if err == nil || errors.Is(err, objectstore.ErrExists) {
		l.entries, l.bytes, l.size = 0, 0, int64(len(object))
	}
}

// leaseEnd returns the time when the lease of a holder ends, by the clock of the service. Renewed
// reports whether it was ever renewed, so that there is an object for it.
func (l *log) leaseEnd(ctx context.Context, h *holder) (end time.Time, renewed bool, err error) {
	at, err := l.place.Modified(ctx, l.leaseName(h.ID))
	renewed = err == nil
	if errors.Is(err, objectstore.ErrMissing) { // the lock is young
		at, err = l.place.Modified(ctx, objectName(l.folder, h.entry, entryKind))
	}
	if errors.Is(err, objectstore.ErrMissing) { // compacted: it is old, and nobody renews it
		at, err = time.Time{}, nil
	}
	return at.Add(statestore.LeaseTime), renewed, err
}

// leaseName returns the name of the object that the holder of a lock writes to renew its lease.
func (l *log) leaseName(lockID string) string {
	return l.place.prefix + "leases/" + escape(l.known.deployment) + "/" + escape(lockID)
}
