// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/objectstore"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
	statelogv1 "github.com/cairnstacks/cairn/proto/cairn/statelog/v1"
)

func part(name string) statestore.Part { return statestore.Part{Path: []string{name}, Exclusive: true} }

// lockPart takes the lock of a part.
func lockPart(t *testing.T, s statestore.Store, name string) *lock {
	t.Helper()
	l, err := s.Lock(t.Context(), "default", statestore.LockRequest{Operation: "test", Parts: []statestore.Part{part(name)}})
	if err != nil {
		t.Fatal(err)
	}
	return l.(*lock)
}

// leases returns the IDs of the locks that have an object for their lease, sorted.
func leases(t *testing.T, s *store) (ids []string) {
	t.Helper()
	prefix := s.prefix + "leases/default/"
	names, next, err := s.List(t.Context(), prefix, nil, 100)
	if err != nil || next != nil {
		t.Fatal(next, err)
	}
	for _, name := range names {
		ids = append(ids, name[len(prefix):])
	}
	return ids
}

func wantLeases(t *testing.T, s *store, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := leases(t, s); !slices.Equal(got, want) {
		t.Errorf("leases of %v, want %v", got, want)
	}
}

// Each lock has a lease of its own. Of holders elsewhere, those lose their locks that are in the
// way and whose leases have ended.
func TestLeasesOfParts(t *testing.T) {
	location := newDirectory(t)
	theirs, ours := storetest.OpenWith(t, open, location).(*store), storetest.OpenWith(t, open, location).(*store)
	a, b, c := lockElsewhere(t, theirs, part("a")), lockElsewhere(t, theirs, part("b")), lockElsewhere(t, theirs, part("c"))
	for _, l := range []*lock{a, b, c} {
		l.renew(t.Context())
	}
	wantLeases(t, ours, a.ID(), b.ID(), c.ID())
	ended := statestore.LeaseTime + time.Minute
	age(t, ours, a.log.leaseName(a.ID()), ended)
	age(t, ours, c.log.leaseName(c.ID()), ended)

	both := statestore.LockRequest{Parts: []statestore.Part{part("a"), part("b")}}
	_, err := ours.Lock(t.Context(), "default", both)
	if locked, ok := errors.AsType[*statestore.LockedError](err); !ok || locked.Holder.ID != b.ID() {
		t.Errorf("got error %v, want that b is locked", err)
	}
	wantLeases(t, ours, a.ID(), b.ID(), c.ID())
	age(t, ours, b.log.leaseName(b.ID()), ended)
	lock, err := ours.Lock(t.Context(), "default", both)
	if err != nil {
		t.Fatal(err)
	}
	from := lock.TakenFrom()
	if len(from) != 2 || from[0].ID != a.ID() || from[1].ID != b.ID() || !from[0].Expired || from[0].Until.IsZero() {
		t.Errorf("taken from %+v", from)
	}
	wantLeases(t, ours, c.ID())
	storetest.MustUnlock(t, lock)
}

// The object for the lease goes with the lock, whoever removes that, and whoever renews it then.
func TestLeaseObjects(t *testing.T) {
	location := newDirectory(t)
	s := storetest.OpenWith(t, open, location).(*store)
	other := storetest.OpenWith(t, open, location)
	a, b := lockPart(t, s, "a"), lockPart(t, s, "b")
	wantLeases(t, s)
	a.renew(t.Context())
	b.renew(t.Context())
	wantLeases(t, s, a.ID(), b.ID())
	storetest.MustUnlock(t, a)
	wantLeases(t, s, b.ID())
	if err := other.ForceUnlock(t.Context(), "default", b.ID()); err != nil {
		t.Fatal(err)
	}
	wantLeases(t, s)
	b.renew(t.Context()) // before it knows
	wantLeases(t, s, b.ID())
	if err := b.Unlock(t.Context()); !storetest.IsError[*statestore.LockLostError](err) {
		t.Errorf("got error %v, want that the lock is lost", err)
	}
	wantLeases(t, s)
}

// forgetfulBucket loses the answer to the next request that creates an object.
type forgetfulBucket struct {
	objectstore.Bucket
	forget bool
}

func (b *forgetfulBucket) Create(ctx context.Context, name string, content []byte) error {
	err := b.Bucket.Create(ctx, name, content)
	if b.forget {
		b.forget = false
		return errors.New("the answer was lost")
	}
	return err
}

// A writer whose write opened a new serial, and that does not know, goes on in that serial.
func TestGoOnUnknowing(t *testing.T) {
	location := newDirectory(t)
	s, other := storetest.OpenWith(t, open, location).(*store), storetest.OpenWith(t, open, location)
	forgetful := &forgetfulBucket{}
	s.Wrap = func(b objectstore.Bucket) objectstore.Bucket {
		forgetful.Bucket = b
		return forgetful
	}
	w := storetest.MustBegin(t, lockPart(t, s, "a"), statestore.Base{})
	between := storetest.MustBegin(t, lockPart(t, other, "b"), w.Base())
	// It reads what the other one has written: else its first request would find that there.
	if err := s.within(t.Context(), "default", func(*log) error { return nil }); err != nil {
		t.Fatal(err)
	}
	forgetful.forget = true
	if err := w.Write(t.Context(), map[string][]byte{"a": []byte("1")}); err == nil {
		t.Fatal("the answer was not lost")
	}
	storetest.MustWrite(t, between, map[string][]byte{"b": []byte("1")}) // in serial 4
	storetest.MustWrite(t, w, map[string][]byte{"a": []byte("1")})       // which is there
	if got := w.Base().Serial; got != 3 {
		t.Errorf("the writer is at serial %d, want 3", got)
	}
	storetest.MustWrite(t, w, map[string][]byte{"a": []byte("2")})
	if got := w.Base().Serial; got != 5 {
		t.Errorf("the writer is at serial %d, want 5", got)
	}
	if err := errors.Join(w.Commit(t.Context()), between.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	storetest.WantRecords(t, storetest.MustRead(t, other, "default"), map[string]string{"a": "2", "b": "1"})
	history, err := other.History(t.Context(), "default")
	if err != nil || len(history) != 5 || slices.ContainsFunc(history, statestore.Version.Unfinished) {
		t.Errorf("history %+v, error %v, want five finished serials", history, err)
	}
}

// Of holders who want a secret at the same time, all get the same.
func TestSecretOfParts(t *testing.T) {
	location := newDirectory(t)
	a := lockPart(t, storetest.OpenWith(t, open, location), "a")
	b := lockPart(t, storetest.OpenWith(t, open, location), "b")
	first, err := a.adopt(t.Context(), []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.adopt(t.Context(), []byte("other"))
	if err != nil || string(first) != "one" || string(second) != "one" {
		t.Errorf("secrets %q and %q, error %v", first, second, err)
	}
}

// Objects of another version of the format are said to be that, and are not damage.
func TestFormats(t *testing.T) {
	for version, want := range map[uint32]statestore.Problem{
		formatVersion - 1: statestore.ProblemNotState, formatVersion + 1: statestore.ProblemNewer,
	} {
		s := storetest.OpenWith(t, open, newDirectory(t)).(*store)
		object, err := frame(&statelogv1.Entry{
			FormatVersion: version, Deployment: "default", Number: 1, Event: &statelogv1.Entry_Secret{Secret: []byte("x")},
		})
		if err == nil {
			err = s.Create(t.Context(), objectName(s.prefix+"deployments/default/", 1, entryKind), object)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Read(t.Context(), "default")
		if fault, ok := errors.AsType[*statestore.StoreError](err); !ok || fault.Problem != want {
			t.Errorf("version %d: got error %v, want the problem %q", version, err, want)
		}
	}
}
