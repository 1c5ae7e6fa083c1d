// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/records"
)

// Old is a run that was begun before a time.
type Old struct {
	*Run             // with nothing but its ID if it cannot be read
	Outcome *Outcome // nil if it has none
	Why     error    // why it is not removed; nil if it is
}

// The reasons why a run is not removed, besides [*SetInUseError] and those of envelopes.
var (
	ErrNotEnded   = errors.New("it has not ended")
	ErrSetWaiting = errors.New("its set of plans has not been applied")
)

// SetInUseError says that another run, which has not ended, applies the set of plans of a run.
type SetInUseError struct{ By string }

func (e *SetInUseError) Error() string { return "the run " + e.By + " is applying its set of plans" }

// Old returns the runs that have ended before a time, and, with the reason why they stay, others
// that were begun before it; the newest first. Sets says that plans which were not applied are no
// reason.
func (s *Store) Old(ctx context.Context, before time.Time, sets bool) ([]Old, error) {
	ids, err := s.IDs(ctx)
	if err != nil {
		return nil, err
	}
	var old []Old
	applied := map[string]string{} // runs that have not ended, by the runs whose sets they apply
	for _, id := range ids {
		run, outcome, err := s.readEnd(ctx, id)
		_, unreadable := errors.AsType[*envelope.Error](err)
		switch {
		case errors.Is(err, ErrUnknown): // somebody has removed it since
		case unreadable:
			old = append(old, Old{Run: &Run{ID: id}, Why: err})
		case err != nil:
			return nil, err
		case outcome != nil && outcome.At.Before(before):
			old = append(old, Old{Run: run, Outcome: outcome})
		case outcome == nil:
			applied[run.Options.SetOf] = id
			if run.Began.At.Before(before) {
				old = append(old, Old{Run: run, Why: ErrNotEnded})
			}
		}
	}
	for i := range old {
		if one := &old[i]; one.Why == nil && one.Options.KeepsSet {
			if one.Why, err = s.whySetStays(ctx, one.ID, applied[one.ID], sets); err != nil {
				return nil, err
			}
		}
	}
	return old, nil
}

// readEnd reads a run and its end, nil if it has none.
func (s *Store) readEnd(ctx context.Context, id string) (*Run, *Outcome, error) {
	run, err := s.read(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	outcome, err := s.Outcome(ctx, id)
	return run, outcome, err
}

// whySetStays returns why the set of an ended run stays; nil if it does not.
func (s *Store) whySetStays(ctx context.Context, id, applying string, sets bool) (why, err error) {
	if applying != "" {
		return &SetInUseError{applying}, nil
	}
	if sets {
		return nil, nil
	}
	_, err = s.open(ctx, calls.Folder(id)+settledName)
	if errors.Is(err, records.ErrMissing) {
		return ErrSetWaiting, nil
	}
	return nil, err
}

// SettleSet records that nothing of the set which a run has planned is left to be applied.
func (s *Store) SettleSet(ctx context.Context, id string, who Who) error {
	return s.put(ctx, calls.Folder(id)+settledName, who)
}

// Remove removes a run with all that it has kept. It must have ended. As soon as this has begun,
// nobody finds the run any more (rule D4).
//
// Errors: [*SetInUseError], and the run is as before.
func (s *Store) Remove(ctx context.Context, id string, who Who) error {
	// Each mark is one of its own: whoever takes it back leaves those of others.
	mark := removedFolder + id + "/" + rand.Text() + "/"
	if err := s.put(ctx, mark+"by", who); err != nil {
		return err
	}
	if err := s.setUnused(ctx, id); err != nil {
		return errors.Join(err, s.Records.Remove(ctx, mark))
	}
	for _, prefix := range []string{calls.Folder(id), indexFolder + id + "/", removedFolder + id + "/"} {
		if err := s.Records.Remove(ctx, prefix); err != nil {
			return err
		}
	}
	return nil
}

// setUnused returns [*SetInUseError] if somebody applies the set of a run.
func (s *Store) setUnused(ctx context.Context, id string) error {
	run, err := s.read(ctx, id)
	if errors.Is(err, ErrUnknown) || err == nil && !run.Options.KeepsSet {
		return nil // some of it was removed before, or it has no set
	}
	if err != nil {
		return err
	}
	ids, err := s.IDs(ctx)
	if err != nil {
		return err
	}
	for _, other := range ids {
		run, outcome, err := s.readEnd(ctx, other)
		if _, unreadable := errors.AsType[*envelope.Error](err); unreadable || errors.Is(err, ErrUnknown) {
			continue // a run of other keys cannot read the set
		}
		if err != nil {
			return err
		}
		if outcome == nil && run.Options.SetOf == id {
			return &SetInUseError{other}
		}
	}
	return nil
}

// Removed reports whether somebody removes a run, or has begun to.
func (s *Store) Removed(ctx context.Context, id string) (bool, error) {
	marks, err := s.Records.List(ctx, removedFolder+id+"/")
	return len(marks) > 0, err
}

// FinishRemovals removes what was left by removals that were cut off.
func (s *Store) FinishRemovals(ctx context.Context, who Who) error {
	begun, err := s.removed(ctx)
	if err != nil {
		return err
	}
	for _, id := range begun {
		err := s.Remove(ctx, id, who)
		if _, inUse := errors.AsType[*SetInUseError](err); err != nil && !inUse {
			return err
		}
	}
	return nil
}

// removed returns the runs that somebody removes, or has begun to, in the order of their IDs.
func (s *Store) removed(ctx context.Context) ([]string, error) {
	marks, err := s.Records.List(ctx, removedFolder)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, mark := range marks {
		id, _, _ := strings.Cut(strings.TrimPrefix(mark, removedFolder), "/")
		ids = append(ids, id)
	}
	return slices.Compact(ids), nil
}

// IDs returns the IDs of all runs that nobody removes, the newest first.
func (s *Store) IDs(ctx context.Context) ([]string, error) {
	names, err := s.Records.List(ctx, indexFolder)
	if err != nil {
		return nil, err
	}
	removed, err := s.removed(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, name := range names {
		if id := path.Dir(strings.TrimPrefix(name, indexFolder)); !slices.Contains(removed, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

// Read returns a run that nobody removes.
//
// Errors: [ErrUnknown].
func (s *Store) Read(ctx context.Context, id string) (*Run, error) {
	run, err := s.read(ctx, id)
	if err != nil {
		return nil, err
	}
	removed, err := s.Removed(ctx, id)
	if err == nil && removed {
		err = ErrUnknown
	}
	return run, err
}

// read is [Store.Read] of a run that somebody may remove.
func (s *Store) read(ctx context.Context, id string) (*Run, error) {
	run := &Run{}
	err := s.get(ctx, calls.Folder(id)+runName, run)
	if errors.Is(err, records.ErrMissing) || errors.Is(err, records.ErrName) {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, fmt.Errorf("the run %s: %w", id, err)
	}
	return run, nil
}
