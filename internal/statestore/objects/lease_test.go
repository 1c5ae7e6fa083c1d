// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
	statelogv1 "github.com/cairnstacks/cairn/proto/cairn/statelog/v1"
)

// lockElsewhere takes the lock as a process of another machine does, whose clock is an hour wrong.
func lockElsewhere(t *testing.T, s *store, parts ...statestore.Part) *lock {
	t.Helper()
	request := statestore.LockRequest{Operation: "apply", Parts: parts}
	l := &lock{store: s, log: s.log("default"), info: statestore.NewLockInfo("default", request)}
	l.info.Identity.Scope, l.info.Host = "another machine", "elsewhere"
	l.info.Started, l.info.Seen = l.info.Started.Add(-time.Hour), l.info.Seen.Add(-time.Hour)
	err := s.within(t.Context(), "default", func(at *log) error {
		return at.append(t.Context(), true, func(m *model) (*statelogv1.Entry, error) {
			e, _, err := l.acquire(t.Context(), m)
			return e, err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// age makes an object older.
func age(t *testing.T, s *store, name string, by time.Duration) {
	t.Helper()
	path := filepath.Join(s.address.Bucket, name)
	at := time.Now().Add(-by)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// The lock of a holder elsewhere is taken when its lease has ended by the clock of the service, and
// not before. The old holder can write nothing then, and says whose the lock is.
func TestLeaseEnds(t *testing.T) {
	location := newDirectory(t)
	theirs, ours := storetest.OpenWith(t, open, location).(*store), storetest.OpenWith(t, open, location).(*store)
	old := lockElsewhere(t, theirs)
	w := storetest.MustBegin(t, old, statestore.Base{})
	storetest.MustWrite(t, w, map[string][]byte{"a": []byte("1")})

	refused := func() {
		t.Helper()
		if _, err := ours.Lock(t.Context(), "default", statestore.LockRequest{}); !storetest.IsError[*statestore.LockedError](err) {
			t.Fatalf("got error %v, want that of a lock", err)
		}
	}
	refused()
	entry := objectName(theirs.prefix+"deployments/default/", 1, entryKind)
	age(t, ours, entry, statestore.LeaseTime+time.Minute)
	if err := theirs.Put(t.Context(), old.log.leaseName(old.ID()), []byte(old.ID())); err != nil { // as it renews its lease
		t.Fatal(err)
	}
	refused()
	info, err := storetest.Holder(t.Context(), ours, "default")
	if err != nil || time.Until(info.Until) < statestore.LeaseTime-time.Minute {
		t.Errorf("the lock is %+v, error %v; want a lease", info, err)
	}
	age(t, ours, old.log.leaseName(old.ID()), statestore.LeaseTime+time.Minute)

	taken := storetest.MustLock(t, ours, "default")
	if from := storetest.Displaced(taken); from == nil || from.ID != old.ID() || !from.Expired {
		t.Errorf("taken from %+v", from)
	}
	for name, err := range map[string]error{
		"Write":  w.Write(t.Context(), map[string][]byte{"a": []byte("2")}),
		"Commit": w.Commit(t.Context()),
		"Unlock": old.Unlock(t.Context()),
	} {
		lost, ok := err.(*statestore.LockLostError)
		if !ok || lost.Now == nil || lost.Now.ID != taken.ID() {
			t.Errorf("%s of the old holder: got error %v", name, err)
		}
	}
	storetest.WantRecords(t, storetest.MustRead(t, ours, "default"), map[string]string{"a": "1"})
	storetest.MustUnlock(t, taken)
}

// A holder that was suspended for so long that the entries after its last one were removed looks at
// the log before it writes.
func TestSuspendedHolder(t *testing.T) {
	location := newDirectory(t)
	theirs, ours := storetest.OpenWith(t, open, location).(*store), storetest.OpenWith(t, open, location).(*store)
	old := lockElsewhere(t, theirs)
	w := storetest.MustBegin(t, old, statestore.Base{})
	old.log.contact = old.log.contact.Add(-2 * trusted)

	if err := ours.ForceUnlock(t.Context(), "default", old.ID()); err != nil {
		t.Fatal(err)
	}
	ours.keeps = -time.Minute
	lock := storetest.MustLock(t, ours, "default").(statestore.Compactor)
	for range fewEntries {
		storetest.MustWrite(t, storetest.MustBegin(t, lock, storetest.MustRead(t, ours, "default").Base()), map[string][]byte{"a": []byte("1")})
	}
	if removed, err := lock.Compact(t.Context(), fewEntries); removed == 0 || err != nil {
		t.Fatalf("removed %d objects, error %v", removed, err)
	}
	if err := w.Write(t.Context(), map[string][]byte{"a": []byte("2")}); !storetest.IsError[*statestore.LockLostError](err) {
		t.Errorf("got error %v, want that the lock is lost", err)
	}
	storetest.WantRecords(t, storetest.MustRead(t, ours, "default"), map[string]string{"a": "1"})
}
