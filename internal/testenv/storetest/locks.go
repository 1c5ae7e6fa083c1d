// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package storetest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv"
)

func testLockExclusive(t *testing.T, at *Place) {
	// Each field is compared for itself, so that a failure names it.
	s := at.store(t)
	before := time.Now().Add(-time.Second)
	lock, err := s.Lock(t.Context(), "default", statestore.LockRequest{Operation: "apply", Owner: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []statestore.Store{s, at.store(t)} {
		_, err := s.Lock(t.Context(), "default", statestore.LockRequest{Operation: "plan", Owner: "bob"})
		locked, ok := errors.AsType[*statestore.LockedError](err)
		if !ok {
			t.Fatalf("second Lock: error %v, want a LockedError", err)
		}
		want := statestore.LockInfo{
			ID:         lock.ID(),
			Deployment: "default",
			Operation:  "apply",
			Owner:      "alice",
			Host:       statestore.CurrentHost(),
			PID:        os.Getpid(),
			Epoch:      1,
		}
		ignored := cmpopts.IgnoreFields(statestore.LockInfo{}, "Started", "Seen", "Until", "Identity")
		if diff := cmp.Diff(want, locked.Holder, ignored); diff != "" {
			t.Errorf("holder (-want +got):\n%s", diff)
		}
		all, err2 := s.Locks(t.Context())
		diff := cmp.Diff([]statestore.LockInfo{want}, all, ignored)
		if diff != "" || err2 != nil || all[0].Process() != statestore.ProcessRunning {
			t.Errorf("locks (-want +got), error %v:\n%s", err2, diff)
		}
		if locked.Holder.Started.Before(before) || locked.Holder.Started.After(time.Now()) {
			t.Errorf("holder started at %s", locked.Holder.Started)
		}
		for _, part := range []string{
			"alice", statestore.CurrentHost(), fmt.Sprint(os.Getpid()), `"apply"`, locked.Holder.Started.Local().Format(time.TimeOnly),
		} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("message does not say %q:\n%s", part, err)
			}
		}
		info, err := Holder(t.Context(), s, "default")
		if err != nil || info == nil || !cmp.Equal(*info, locked.Holder) {
			t.Errorf("LockInfo = %+v, %v; want %+v", info, err, locked.Holder)
		}
	}

	MustUnlock(t, lock)
	if err := lock.Unlock(t.Context()); !IsError[*statestore.LockLostError](err) {
		t.Errorf("second Unlock: error %v, want a LockLostError", err)
	}
	again := MustLock(t, s, "default")
	if Displaced(again) != nil || again.ID() == lock.ID() {
		t.Errorf("lock after unlock: taken from %v, ID %s", Displaced(again), again.ID())
	}
	if err := lock.Unlock(t.Context()); !IsError[*statestore.LockLostError](err) {
		t.Errorf("Unlock of another's lock: error %v, want a LockLostError", err)
	}
	if info, err := Holder(t.Context(), s, "default"); err != nil || info == nil || info.Epoch != 2 {
		t.Errorf("LockInfo = %+v, %v; want epoch 2", info, err)
	}
}

func testLockRace(t *testing.T, at *Place) {
	stores := []statestore.Store{at.store(t), at.store(t), at.store(t)}
	for round := range 5 {
		start := make(chan struct{})
		var wg sync.WaitGroup
		var mu sync.Mutex
		var won []statestore.Lock
		for i := range 12 {
			wg.Go(func() {
				<-start
				lock, err := stores[i%len(stores)].Lock(t.Context(), "default", statestore.LockRequest{Operation: "race"})
				if err != nil {
					if !IsError[*statestore.LockedError](err) {
						t.Errorf("Lock: error %v, want a LockedError", err)
					}
					return
				}
				mu.Lock()
				defer mu.Unlock()
				won = append(won, lock)
			})
		}
		close(start)
		testenv.Within(t, "everybody has tried to lock", wg.Wait)
		if len(won) != 1 {
			t.Fatalf("round %d: %d goroutines have the lock, want 1", round, len(won))
		}
		MustUnlock(t, won[0])
	}
}

func testLockProcesses(t *testing.T, at *Place) {
	for range 3 {
		var children []*Child
		for range 4 {
			children = append(children, StartChild(t, "contend", at.location))
		}
		for _, c := range children {
			if got := c.Line(t); got != "ready" {
				t.Fatal(got)
			}
		}
		for _, c := range children {
			if _, err := c.stdin.Write([]byte("go\n")); err != nil {
				t.Fatal(err)
			}
		}
		var won int
		for _, c := range children {
			switch got := c.Line(t); got {
			case "won":
				won++
			case "refused":
			default:
				t.Errorf("child says %q", got)
			}
		}
		if won != 1 {
			t.Errorf("%d processes have the lock, want 1", won)
		}
		for _, c := range children {
			c.finish(t)
		}
	}
}

func testLockRunning(t *testing.T, at *Place) {
	s := at.store(t)
	c := StartChild(t, "hold", at.location)
	id := strings.TrimPrefix(c.Line(t), "locked ")

	_, err := s.Lock(t.Context(), "default", statestore.LockRequest{Operation: "plan"})
	locked, ok := errors.AsType[*statestore.LockedError](err)
	if !ok {
		t.Fatalf("Lock: error %v, want a LockedError", err)
	}
	if locked.Holder.PID != c.Cmd.Process.Pid || locked.Holder.ID != id || locked.Holder.Owner != "child" {
		t.Errorf("holder is %+v, want process %d with lock %s", locked.Holder, c.Cmd.Process.Pid, id)
	}
	if statestore.CurrentProcess().Scope != "" && (!locked.Running || !strings.Contains(err.Error(), "still running")) {
		t.Errorf("the holder runs, but the error does not say so: %v", err)
	}
	c.finish(t)
	MustUnlock(t, MustLock(t, s, "default"))
}

func testLockKilled(t *testing.T, at *Place) {
	if statestore.CurrentProcess().Scope == "" {
		t.Skip("SKIPPED: this system cannot tell whether another process is dead")
	}
	s := at.store(t)
	c := StartChild(t, "hold", at.location)
	id := strings.TrimPrefix(c.Line(t), "locked ")
	c.Kill(t)

	lock := MustLock(t, s, "default")
	if from := Displaced(lock); from == nil || from.ID != id || from.PID != c.Cmd.Process.Pid {
		t.Errorf("taken from %+v, want lock %s of process %d", from, id, c.Cmd.Process.Pid)
	}
	if _, err := s.Lock(t.Context(), "default", statestore.LockRequest{}); !IsError[*statestore.LockedError](err) {
		t.Errorf("Lock after take-over: error %v, want a LockedError", err)
	}
}

func testForceUnlock(t *testing.T, at *Place) {
	s := at.store(t)
	lock := MustLock(t, s, "default")
	w := MustBegin(t, lock, statestore.Base{})
	MustWrite(t, w, map[string][]byte{"a": []byte("1")})

	err := s.ForceUnlock(t.Context(), "default", "another")
	if e, ok := errors.AsType[*statestore.LockIDError](err); !ok || e.Now == nil || e.Now.ID != lock.ID() {
		t.Errorf("ForceUnlock with a wrong ID: error %v, want a LockIDError that names the right one", err)
	}
	if err := s.ForceUnlock(t.Context(), "default", lock.ID()); err != nil {
		t.Fatal(err)
	}
	err = s.ForceUnlock(t.Context(), "default", lock.ID())
	if e, ok := errors.AsType[*statestore.LockIDError](err); !ok || e.Now != nil {
		t.Errorf("second ForceUnlock: error %v, want a LockIDError", err)
	}

	other := MustLock(t, at.store(t), "default")
	for name, err := range map[string]error{
		"Write":  w.Write(t.Context(), map[string][]byte{"a": []byte("2")}),
		"Commit": w.Commit(t.Context()),
		"Unlock": lock.Unlock(t.Context()),
	} {
		if e, ok := errors.AsType[*statestore.LockLostError](err); !ok || e.Now == nil || e.Now.ID != other.ID() {
			t.Errorf("%s after a forced unlock: error %v, want a LockLostError naming the new holder", name, err)
		}
	}
	if _, err := lock.Begin(t.Context(), w.Base(), "apply", nil); !IsError[*statestore.LockLostError](err) {
		t.Errorf("Begin after a forced unlock: error %v, want a LockLostError", err)
	}
	WantRecords(t, MustRead(t, s, "default"), map[string]string{"a": "1"})
}

// A writer that has just written finds out with its next write that the lock is gone, removed by
// this process or by another one.
func testForceUnlockWhileWriting(t *testing.T, at *Place) {
	s := at.store(t)
	for name, remover := range map[string]statestore.Store{"this process": s, "another one": at.store(t)} {
		lock := MustLock(t, s, "default")
		w := MustBegin(t, lock, MustRead(t, s, "default").Base())
		MustWrite(t, w, map[string][]byte{"a": []byte("1")})
		MustWrite(t, w, map[string][]byte{"a": []byte("2")})
		if err := remover.ForceUnlock(t.Context(), "default", lock.ID()); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(t.Context(), map[string][]byte{"a": []byte("3")}); !IsError[*statestore.LockLostError](err) {
			t.Errorf("Write after a forced unlock by %s: error %v, want a LockLostError", name, err)
		}
	}
	WantRecords(t, MustRead(t, s, "default"), map[string]string{"a": "2"})
}

func testWriterOutlived(t *testing.T, at *Place) {
	s := at.store(t)
	lock := MustLock(t, s, "default")
	first := MustBegin(t, lock, statestore.Base{})
	MustWrite(t, first, map[string][]byte{"a": []byte("0")})
	second := MustBegin(t, lock, first.Base())
	if err := first.Write(t.Context(), map[string][]byte{"a": []byte("1")}); !IsError[*statestore.StaleError](err) {
		t.Errorf("Write to an older serial: error %v, want a StaleError", err)
	}
	if err := first.Commit(t.Context()); !IsError[*statestore.StaleError](err) {
		t.Errorf("Commit of an older serial: error %v, want a StaleError", err)
	}
	MustWrite(t, second, map[string][]byte{"a": []byte("2")})
	if err := second.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"Write":  second.Write(t.Context(), map[string][]byte{"a": []byte("3")}),
		"Commit": second.Commit(t.Context()),
	} {
		if !errors.Is(err, statestore.ErrCommitted) {
			t.Errorf("%s after Commit: error %v, want ErrCommitted", name, err)
		}
	}
	WantRecords(t, MustRead(t, s, "default"), map[string]string{"a": "2"})
}
