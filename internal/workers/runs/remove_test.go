// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runs

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/records"
)

var (
	someone = Who{By: "eva", Host: "build", At: time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)}
	later   = someone.At.Add(time.Hour)
)

func newStore(t *testing.T) *Store {
	t.Helper()
	return &Store{Records: records.InMemory(), Key: newKey(t)}
}

func newKey(t *testing.T) envelope.RunKey {
	t.Helper()
	key, err := envelope.NewRunKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// do fails the test at an error.
func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin records runs that differ by their IDs and options.
func begin(t *testing.T, s *Store, id string, options Options) {
	t.Helper()
	do(t, s.Begin(t.Context(), &Run{ID: id, Began: someone, Options: options}))
}

func end(t *testing.T, s *Store, id string) {
	t.Helper()
	do(t, s.End(t.Context(), id, Outcome{Who: someone}))
}

// whys are the IDs of old runs with the reasons why they stay.
func whys(t *testing.T, s *Store, before time.Time, sets bool) []string {
	t.Helper()
	old, err := s.Old(t.Context(), before, sets)
	do(t, err)
	var all []string
	for _, one := range old {
		text := one.ID
		if one.Why != nil {
			text += ": " + one.Why.Error()
		}
		all = append(all, text)
	}
	return all
}

func TestOld(t *testing.T) {
	s := newStore(t)
	for id, options := range map[string]Options{
		"1-ended": {}, "2-begun": {}, "3-set": {KeepsSet: true}, "4-used": {KeepsSet: true}, "5-settled": {KeepsSet: true},
		"6-applies": {SetOf: "4-used"}, "7-applied": {SetOf: "5-settled"},
	} {
		begin(t, s, id, options)
		if id != "2-begun" && id != "6-applies" {
			end(t, s, id)
		}
	}
	do(t, s.SettleSet(t.Context(), "4-used", someone)) // by a run before, and now it is looked at once more
	do(t, s.SettleSet(t.Context(), "5-settled", someone))
	other := &Store{Records: s.Records, Key: newKey(t)}
	begin(t, other, "8-other-key", Options{})

	want := []string{
		"8-other-key: the run 8-other-key: record runs/8-other-key/run is sealed for other keys than the one that is given; " +
			"give this machine the private key that belongs to the public key which its sender has",
		"7-applied",
		"6-applies: it has not ended",
		"5-settled",
		"4-used: the run 6-applies is applying its set of plans",
		"3-set: its set of plans has not been applied",
		"2-begun: it has not ended",
		"1-ended",
	}
	if diff := cmp.Diff(want, whys(t, s, later, false)); diff != "" {
		t.Errorf("Old (-want +got):\n%s", diff)
	}
	want[5] = "3-set"
	if diff := cmp.Diff(want, whys(t, s, later, true)); diff != "" {
		t.Errorf("Old with sets (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[:1], whys(t, s, someone.At, true)); diff != "" {
		t.Errorf("Old, none of them old enough (-want +got):\n%s", diff)
	}
}

// cut is a store that fails when a folder is to be removed.
type cut struct {
	records.Store
	at string
}

var errCut = errors.New("the connection is cut")

func (c *cut) Remove(ctx context.Context, prefix string) error {
	if strings.HasPrefix(prefix, c.at) {
		return errCut
	}
	return c.Store.Remove(ctx, prefix)
}

// A run of which some is removed is not found, and the next removal finishes it.
func TestRemovalCutOff(t *testing.T) {
	for _, at := range []string{"runs/", "index/", "removed/"} {
		t.Run(at, func(t *testing.T) {
			s := newStore(t)
			begin(t, s, "1", Options{})
			end(t, s, "1")
			begin(t, s, "2", Options{})
			before := &Store{Records: &cut{s.Records, at}, Key: s.Key}
			if err := before.Remove(t.Context(), "1", someone); !errors.Is(err, errCut) {
				t.Fatalf("Remove: got error %v, want %v", err, errCut)
			}
			if _, err := s.Read(t.Context(), "1"); !errors.Is(err, ErrUnknown) {
				t.Errorf("Read: got error %v, want %v", err, ErrUnknown)
			}
			if diff := cmp.Diff([]string{"2: it has not ended"}, whys(t, s, later, false)); diff != "" {
				t.Errorf("Old (-want +got):\n%s", diff)
			}
			do(t, s.FinishRemovals(t.Context(), someone))
			for _, folder := range []string{"runs/1/", "index/1/", "removed/"} {
				if names, err := s.Records.List(t.Context(), folder); len(names) > 0 || err != nil {
					t.Errorf("left in %s: %q, error %v", folder, names, err)
				}
			}
			if _, err := s.Read(t.Context(), "2"); err != nil {
				t.Errorf("the other run: %v", err)
			}
		})
	}
}

// A set is not removed while it is applied, also if that has begun since somebody looked.
func TestRemoveSetInUse(t *testing.T) {
	s := newStore(t)
	begin(t, s, "1", Options{KeepsSet: true})
	end(t, s, "1")
	begin(t, s, "2", Options{SetOf: "1"})
	begin(t, &Store{Records: s.Records, Key: newKey(t)}, "3", Options{})
	err := s.Remove(t.Context(), "1", someone)
	if inUse, ok := errors.AsType[*SetInUseError](err); !ok || inUse.By != "2" {
		t.Fatalf("Remove: got error %v, want that the run 2 applies the set", err)
	}
	if _, err := s.Read(t.Context(), "1"); err != nil {
		t.Errorf("the run is not as before: %v", err)
	}
	if removed, err := s.Removed(t.Context(), "1"); removed || err != nil {
		t.Errorf("Removed = %v, error %v; want false", removed, err)
	}
	end(t, s, "2")
	do(t, s.Remove(t.Context(), "1", someone))
	if ids, err := s.IDs(t.Context()); err != nil || len(ids) != 2 {
		t.Errorf("IDs = %q, error %v; want 2 and 3", ids, err)
	}
}

// between is a store in which something happens after a record is written whose name has a
// beginning.
type between struct {
	records.Store
	after string
	do    func()
}

func (b *between) Put(ctx context.Context, name string, content []byte) error {
	err := b.Store.Put(ctx, name, content)
	if happens := b.do; strings.HasPrefix(name, b.after) && happens != nil {
		b.do = nil
		happens()
	}
	return err
}

// A run that begins to apply a set while that is removed sees that, or is seen (rule D4).
func TestRemoveSetWhileApplyBegins(t *testing.T) {
	s := newStore(t)
	begin(t, s, "1", Options{KeepsSet: true})
	end(t, s, "1")
	sees := false
	removing := &Store{Records: &between{s.Records, removedFolder, func() {
		begin(t, s, "2", Options{SetOf: "1"})
		var err error
		sees, err = s.Removed(t.Context(), "1")
		do(t, err)
	}}, Key: s.Key}
	_, seen := errors.AsType[*SetInUseError](removing.Remove(t.Context(), "1", someone))
	if !sees && !seen {
		t.Error("neither of both saw the other")
	}
	if _, err := s.Read(t.Context(), "1"); seen && err != nil {
		t.Errorf("the set that is in use: %v", err)
	}
}

// Of two that remove a run at the same time, both succeed.
func TestRemoveTwice(t *testing.T) {
	s := newStore(t)
	begin(t, s, "1", Options{KeepsSet: true})
	end(t, s, "1")
	var second error
	first := (&Store{Records: &between{s.Records, removedFolder, func() { second = s.Remove(t.Context(), "1", someone) }}, Key: s.Key}).
		Remove(t.Context(), "1", someone)
	if err := errors.Join(first, second); err != nil {
		t.Error(err)
	}
	if ids, err := s.IDs(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("IDs = %q, error %v; want none", ids, err)
	}
}
