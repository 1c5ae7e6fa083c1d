// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/tables"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// flakyLock writes into a map, and fails as long as broken is set.
type flakyLock struct {
	statestore.Lock
	statestore.Writer

	broken    bool
	records   map[string][]byte
	begun     int
	committed bool
}

var errBroken = errors.New("the disk is gone")

func (l *flakyLock) ReserveUsed() bool { return false }

func (l *flakyLock) Begin(ctx context.Context, _ statestore.Base, _ string, changes map[string][]byte) (statestore.Writer, error) {
	if err := l.Write(ctx, changes); err != nil {
		return nil, err
	}
	l.begun++
	return l, nil
}

func (l *flakyLock) Write(_ context.Context, changes map[string][]byte) error {
	if l.broken {
		return errBroken
	}
	for key, value := range changes {
		if value == nil {
			delete(l.records, key)
			continue
		}
		l.records[key] = value
	}
	return nil
}

func (l *flakyLock) Commit(context.Context) error {
	l.committed = true
	return nil
}

func moduleState(resources ...string) engine.State {
	var list []string
	for _, name := range resources {
		list = append(list, fmt.Sprintf(`{"mode":"managed","type":"t","name":%q,"provider":"p","instances":[{"schema_version":0,"attributes":{}}]}`, name))
	}
	return engine.State(`{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":[` + strings.Join(list, ",") + `]}`)
}

func component(t *testing.T, addr string, resources ...string) *stackstate.Component {
	t.Helper()
	parsed, err := stackaddrs.ParseAbsComponentInstance(addr)
	if err != nil {
		t.Fatal(err)
	}
	return &stackstate.Component{Addr: parsed, Module: moduleState(resources...)}
}

func newTestSaver(lock *flakyLock, prior *stackstate.State) *Saver {
	return NewSaver(&Stored{Snapshot: &statestore.Snapshot{}, State: prior, lock: &Lock{Lock: lock}}, "apply", "")
}

// A change that could not be written is written at the end, or by a later change of the same
// component.
func TestSaverTriesAgain(t *testing.T) {
	lock := &flakyLock{records: map[string][]byte{}, broken: true}
	saver := newTestSaver(lock, stackstate.New())

	checkpoint, final := component(t, "component.a", "x", "half"), component(t, "component.a", "x")
	other, last := component(t, "component.b", "y"), component(t, "component.c", "z")
	for _, change := range []stackruntime.StateChange{{After: checkpoint}, {After: last}} {
		if err := saver.Save(t.Context(), change); !errors.Is(err, errBroken) {
			t.Fatalf("got error %v", err)
		}
	}
	lock.broken = false
	// The evaluator starts from the saved state, which is empty. So nothing of the checkpoint may be
	// there.
	for _, change := range []stackruntime.StateChange{{After: other}, {After: final}} {
		if err := saver.Save(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	if err := saver.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := stackstate.New()
	for _, c := range []*stackstate.Component{final, other, last} {
		want.Components[c.Addr] = c
	}
	compareRecords(t, lock, want)
	if lock.begun != 1 || !lock.committed {
		t.Errorf("begun %d times, committed: %t", lock.begun, lock.committed)
	}
}

// Addresses that could not be written are written before the changes under the new ones.
func TestSaverWritesAddressesFirst(t *testing.T) {
	old, moved, done := component(t, "component.a", "x"), component(t, "component.b", "x"), component(t, "component.b", "x", "y")
	prior := stackstate.New()
	prior.Components[old.Addr] = old
	want := stackstate.New()
	want.Components[done.Addr] = done
	for name, writable := range map[string]int{"never": 2, "later": 1, "at once": 0} {
		t.Run(name, func(t *testing.T) {
			records, err := prior.Records()
			if err != nil {
				t.Fatal(err)
			}
			lock := &flakyLock{records: records}
			saver := newTestSaver(lock, prior)
			for i, change := range []stackruntime.StateChange{
				{Renamed: []stackstate.Renaming{{Before: old, After: moved}}},
				{Before: moved, After: done},
			} {
				lock.broken = i < writable
				if err := saver.Save(t.Context(), change); (err != nil) != lock.broken {
					t.Fatalf("change %d: got error %v", i, err)
				}
			}
			lock.broken = false
			if err := saver.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			compareRecords(t, lock, want)
		})
	}
}

func TestSaverWritesRootValues(t *testing.T) {
	prior := stackstate.New()
	prior.Inputs["gone"] = cty.StringVal("x")
	prior.Outputs["kept"] = cty.StringVal("old")
	records, err := prior.Records()
	if err != nil {
		t.Fatal(err)
	}
	lock := &flakyLock{records: records}
	saver := newTestSaver(lock, prior)
	err = saver.Save(t.Context(), stackruntime.StateChange{
		Inputs:  map[string]cty.Value{"gone": cty.NilVal, "new": cty.NumberIntVal(1)},
		Outputs: map[string]cty.Value{"kept": cty.StringVal("new")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := stackstate.New()
	want.Inputs["new"] = cty.NumberIntVal(1)
	want.Outputs["kept"] = cty.StringVal("new")
	compareRecords(t, lock, want)
}

// Nothing that was changed means no serial.
func TestSaverWithoutChanges(t *testing.T) {
	lock := &flakyLock{records: map[string][]byte{}}
	saver := newTestSaver(lock, stackstate.New())
	if err := saver.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lock.begun != 0 || lock.committed {
		t.Errorf("begun %d times, committed: %t", lock.begun, lock.committed)
	}
}

func TestSaverGivesUp(t *testing.T) {
	lock := &flakyLock{records: map[string][]byte{}, broken: true}
	saver := newTestSaver(lock, stackstate.New())
	if err := saver.Save(t.Context(), stackruntime.StateChange{After: component(t, "component.a", "x")}); !errors.Is(err, errBroken) {
		t.Fatalf("got error %v", err)
	}
	if err := saver.Finish(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("got error %v", err)
	}
	if lock.committed {
		t.Error("committed")
	}
}

// The changes that several component instances save at the same time are all there, in one serial.
func TestSaverSavesTogether(t *testing.T) {
	store, err := tables.Open(filepath.Join(t.TempDir(), "cairn.state.db"), nil, statestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() }) // all is read by then
	states := &Deployment{Name: settings.DefaultDeployment, Store: store}
	stored, err := states.Lock(t.Context(), statestore.LockRequest{Operation: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	saver := NewSaver(stored, "apply", "p")
	want := stackstate.New()
	var saving sync.WaitGroup
	for i := range 20 {
		interim, final := component(t, fmt.Sprintf("component.c%d", i), "x", "half"), component(t, fmt.Sprintf("component.c%d", i), "x")
		want.Components[final.Addr] = final
		saving.Go(func() {
			for _, change := range []stackruntime.StateChange{
				{After: interim, Interim: true, Stage: stackplan.Begun}, {Before: interim, After: final, Stage: stackplan.Done},
			} {
				if err := saver.Save(t.Context(), change); err != nil {
					t.Error(err)
				}
			}
		})
	}
	saving.Wait()
	saver.EndPlan()
	if err := saver.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := states.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantRecords, err := want.Records()
	if err != nil {
		t.Fatal(err)
	}
	if found.Serial != 1 {
		t.Errorf("got serial %d, want 1", found.Serial)
	}
	wantRecords[planKey("p")] = []byte(`{"done":true}`)
	if diff := cmp.Diff(wantRecords, found.Records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if !found.HasDone("p") || found.HasDone("q") {
		t.Errorf("p is done: %t, q is done: %t; want p", found.HasDone("p"), found.HasDone("q"))
	}
}

func compareRecords(t *testing.T, lock *flakyLock, want *stackstate.State) {
	t.Helper()
	records, err := want.Records()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(records, lock.records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// dyingLock is of a process that is killed after some transactions: none of the later ones is made.
type dyingLock struct {
	statestore.Lock
	statestore.Writer

	left int
}

func (l *dyingLock) dies() bool {
	l.left--
	return l.left < 0
}

func (l *dyingLock) Begin(ctx context.Context, base statestore.Base, operation string,
	changes map[string][]byte,
) (statestore.Writer, error) {
	if l.dies() {
		return nil, errBroken
	}
	var err error
	l.Writer, err = l.Lock.Begin(ctx, base, operation, changes)
	return l, err
}

func (l *dyingLock) Write(ctx context.Context, changes map[string][]byte) error {
	if l.dies() {
		return errBroken
	}
	return l.Writer.Write(ctx, changes)
}

func (l *dyingLock) Commit(ctx context.Context) error {
	if l.dies() {
		return errBroken
	}
	return l.Writer.Commit(ctx)
}

// A process that applies a plan, or recovers its work, is killed after each transaction: the
// contents of the state are known as work of the plan.
func TestKilledBetweenTransactions(t *testing.T) {
	a, b := component(t, "component.a"), component(t, "component.b")
	work := map[string]func(*Stored) error{
		"apply": func(stored *Stored) error {
			saver := NewSaver(stored, "apply", "p")
			return errors.Join(
				saver.Save(t.Context(), stackruntime.StateChange{After: a, Stage: stackplan.Begun}),
				saver.Save(t.Context(), stackruntime.StateChange{Before: a, After: a, Stage: stackplan.Done}),
				saver.Save(t.Context(), stackruntime.StateChange{After: b, Stage: stackplan.Begun}),
				saver.Finish(t.Context()),
			)
		},
		"recover": func(stored *Stored) error {
			state := stored.State.With(func(state *stackstate.State) { state.Components[a.Addr] = a })
			return stored.Recover(t.Context(), state, &Begun{Plan: "p", Progress: stackplan.Progress{a.Addr: stackplan.Begun}}, Remembered{})
		},
	}
	for name, work := range work {
		for transactions := 0; ; transactions++ {
			store, err := tables.Open(filepath.Join(t.TempDir(), "cairn.state.db"), nil, statestore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() }) // nothing is written then
			states := &Deployment{Name: settings.DefaultDeployment, Store: store}
			stored, err := states.Lock(t.Context(), statestore.LockRequest{Operation: "apply"})
			if err != nil {
				t.Fatal(err)
			}
			stored.lock = &Lock{Lock: &dyingLock{Lock: stored.lock.Lock, left: transactions}}
			killed := work(stored) != nil
			found, err := states.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if found.Serial > 0 && found.Begun["p"] == nil {
				t.Errorf("%s, killed after %d transactions: serial %d is not known as work of the plan", name, transactions, found.Serial)
			}
			if !killed {
				if found.Serial == 0 {
					t.Errorf("%s: nothing was written", name)
				}
				break
			}
		}
	}
}
