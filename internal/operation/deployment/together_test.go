// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/tables"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// users are several users of one state.
type users struct {
	*testing.T
	store  statestore.Store
	states *deployment.Deployment
}

func newUsers(t *testing.T) *users {
	t.Helper()
	store, err := tables.Open(filepath.Join(t.TempDir(), "cairn.state.db"), nil, statestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() }) // nothing is written then
	return &users{t, store, &deployment.Deployment{Name: settings.DefaultDeployment, Store: store}}
}

func (u *users) addr(name string) stackaddrs.AbsComponentInstance {
	u.Helper()
	addr, err := stackaddrs.ParseAbsComponentInstance("component." + name)
	u.check(err)
	return addr
}

func (u *users) check(err error) {
	u.Helper()
	if err != nil {
		u.Fatal(err)
	}
}

// lock locks a component to be changed.
func (u *users) lock(name string) *deployment.Stored {
	u.Helper()
	stored, err := u.states.Lock(u.Context(), statestore.LockRequest{
		Operation: "apply " + name, Parts: []statestore.Part{deployment.Instance(u.addr(name), true)},
	})
	u.check(err)
	return stored
}

func (u *users) read() *deployment.Stored {
	u.Helper()
	stored, err := u.states.Read(u.Context())
	u.check(err)
	return stored
}

// made is the change that makes a component.
func (u *users) made(name string) stackruntime.StateChange {
	return stackruntime.StateChange{After: &stackstate.Component{
		Addr: u.addr(name), Outputs: map[string]cty.Value{"name": cty.StringVal(name)},
	}}
}

func output(value int) stackruntime.StateChange {
	return stackruntime.StateChange{Outputs: map[string]cty.Value{"components": cty.NumberIntVal(int64(value))}}
}

// count is an ending whose output is the number of components in the state as it is.
func count(overtaken *[]bool) deployment.Ending {
	return func(_ context.Context, now *deployment.Stored, others bool) (map[string][]byte, error) {
		*overtaken = append(*overtaken, others)
		if !others {
			return nil, nil
		}
		return output(len(now.State.Components)).Records()
	}
}

// Two applies at the same time: the one that ends last evaluates what is made of both, as if it had
// begun after the other.
func TestAppliesTogether(t *testing.T) {
	u := newUsers(t)
	first, second := u.lock("a"), u.lock("b")
	var seenFirst, seenSecond []bool
	ofFirst, ofSecond := deployment.NewSaver(first, "apply a", ""), deployment.NewSaver(second, "apply b", "")
	ofFirst.EndWith(count(&seenFirst))
	ofSecond.EndWith(count(&seenSecond))
	u.check(errors.Join(
		ofFirst.Save(t.Context(), u.made("a")),
		ofSecond.Save(t.Context(), u.made("b")),
		ofFirst.Save(t.Context(), output(1)), // by what it knows
		ofSecond.Save(t.Context(), output(1)),
		ofFirst.Finish(t.Context()), first.Unlock(t.Context()),
		ofSecond.Finish(t.Context()), second.Unlock(t.Context()),
	))
	if got := u.read().State.Outputs["components"]; !got.RawEquals(cty.NumberIntVal(2)) {
		t.Errorf("the output is %#v, want the number of both", got)
	}
	if diff := cmp.Diff([][]bool{{true}, {true}}, [][]bool{seenFirst, seenSecond}); diff != "" {
		t.Errorf("overtaken (-want +got):\n%s", diff)
	}
	alone := u.lock("a")
	saver := deployment.NewSaver(alone, "apply a", "")
	var seen []bool
	saver.EndWith(count(&seen))
	u.check(errors.Join(
		saver.Save(t.Context(), stackruntime.StateChange{Before: alone.State.Components[u.addr("a")]}),
		saver.Save(t.Context(), output(1)), saver.Finish(t.Context()), alone.Unlock(t.Context()),
	))
	if got := u.read().State.Outputs["components"]; !got.RawEquals(cty.NumberIntVal(1)) || !cmp.Equal(seen, []bool{false}) {
		t.Errorf("the output of one alone is %#v, overtaken: %t", got, seen)
	}
	history, err := u.store.History(t.Context(), settings.DefaultDeployment)
	u.check(err)
	var operations []string
	for _, version := range history {
		operations = append(operations, version.Operation)
		if version.Unfinished() {
			t.Errorf("serial %d is unfinished", version.Serial)
		}
	}
	if want := []string{"apply a", "apply b", "apply a", "apply a"}; !cmp.Equal(want, operations) { // the second found that of the first right
		t.Errorf("serials of %q, want %q", operations, want)
	}
}

// An operation that begins at the end of another one is seen by that.
func TestOvertakenAtTheEnd(t *testing.T) {
	u := newUsers(t)
	first := u.lock("a")
	saver := deployment.NewSaver(first, "apply a", "")
	u.check(saver.Save(t.Context(), u.made("a")))
	endings := 0
	saver.EndWith(func(_ context.Context, now *deployment.Stored, overtaken bool) (map[string][]byte, error) {
		if endings++; endings == 1 { // and before this one writes
			second := u.lock("b")
			other := deployment.NewSaver(second, "apply b", "")
			u.check(errors.Join(other.Save(t.Context(), u.made("b")), other.Finish(t.Context()), second.Unlock(t.Context())))
		}
		return output(len(now.State.Components)).Records()
	})
	u.check(errors.Join(saver.Finish(t.Context()), first.Unlock(t.Context())))
	if got := u.read().State.Outputs["components"]; !got.RawEquals(cty.NumberIntVal(2)) || endings != 2 {
		t.Errorf("the output is %#v after %d endings", got, endings)
	}
}

// Only what is locked may be changed.
func TestSaveUnlocked(t *testing.T) {
	u := newUsers(t)
	locked := u.lock("a")
	if err := deployment.NewSaver(locked, "apply", "").Save(t.Context(), u.made("b")); err == nil {
		t.Error("a component that is not locked was changed")
	}
	u.check(locked.Unlock(t.Context()))
}

// A plan of some components saves what was recovered of them, while others are changed.
func TestLockToChange(t *testing.T) {
	u := newUsers(t)
	changing := u.lock("b")
	parts := []statestore.Part{deployment.Component(stackaddrs.ComponentOf(u.addr("a")))}
	planning, err := u.states.Lock(t.Context(), statestore.LockRequest{Operation: "plan", Parts: parts})
	u.check(err)
	if planning.Lock().MayChange(u.addr("a")) || !planning.Lock().Concerns(u.addr("a")) || planning.Lock().Concerns(u.addr("b")) {
		t.Error("a lock for reading a is another one")
	}
	parts = planning.Lock().ToChange(u.addr("a"))
	u.check(planning.Unlock(t.Context()))
	recovering, err := u.states.Lock(t.Context(), statestore.LockRequest{Operation: "recover", Parts: parts})
	u.check(err)
	if !recovering.Lock().MayChange(u.addr("a")) || recovering.Lock().MayChange(u.addr("b")) {
		t.Error("a lock for changing a is another one")
	}
	u.check(errors.Join(recovering.Unlock(t.Context()), changing.Unlock(t.Context())))
}

// A state remembers what was cut off, for those whom it concerns, until somebody has accepted it.
func TestRemembered(t *testing.T) {
	u := newUsers(t)
	cutOff := u.lock("a")
	saver := deployment.NewSaver(cutOff, "apply", "")
	u.check(errors.Join(
		saver.Begin(t.Context(), "a.journal", "here"), saver.AddToJournal(t.Context(), []byte("one")),
		saver.AddToJournal(t.Context(), []byte("two")), saver.Touch(t.Context(), u.addr("a"), []string{"fake.x"}),
		cutOff.Unlock(t.Context()), // as by somebody else
	))
	other := u.lock("b")
	if len(other.CutOff) > 0 || !cmp.Equal(other.Others, []string{"a.journal"}) || len(other.Copies) > 0 {
		t.Errorf("an operation on another part knows of %q, others are %q", other.CutOff, other.Others)
	}
	u.check(other.Unlock(t.Context()))

	next := u.lock("a")
	if !cmp.Equal(next.CutOff, []string{"a.journal"}) || string(next.Copies["a.journal"]) != "onetwo" || len(next.Others) > 0 {
		t.Errorf("cut off: %q with %q, others %q", next.CutOff, next.Copies, next.Others)
	}
	if here, there := next.LostWork("here"), next.LostWork("there"); len(here) > 0 || !cmp.Equal(there["component.a"], []string{"fake.x"}) {
		t.Errorf("lost work here: %q, and elsewhere: %q", here, there)
	}
	want := deployment.Remembered{Lost: []string{"a.journal"}, Doubts: map[string][]string{"component.a": {"fake.x"}}}
	u.check(errors.Join(next.Forget(t.Context(), want), next.Unlock(t.Context())))

	same := func(name string, want deployment.Remembered) {
		t.Helper()
		stored := u.lock(name)
		if diff := cmp.Diff(want, stored.Remembered, cmpopts.EquateEmpty()); diff != "" || len(stored.CutOff) > 0 {
			t.Errorf("remembered for %s, besides %q (-want +got):\n%s", name, stored.CutOff, diff)
		}
		u.check(errors.Join(stored.Write(t.Context(), "push", map[string][]byte{"lostb.journal": []byte("{}")}), stored.Unlock(t.Context())))
	}
	same("a", want) // and whatever is written
	same("a", want)
	same("b", deployment.Remembered{})
	accepting := u.lock("a")
	u.check(errors.Join(accepting.Forget(t.Context(), deployment.Remembered{}), accepting.Unlock(t.Context())))
	same("a", deployment.Remembered{})
	if records := u.read().Records; len(records) > 0 {
		t.Errorf("the records %q were left", records)
	}
}
