// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairnstacks/cairn/internal/objectstore"
	"github.com/cairnstacks/cairn/internal/statestore"
)

var _ statestore.Compactor = (*lock)(nil)

// youngest is the age of the youngest entry that is removed. A holder of a lock that was suspended,
// and has lost it, finds the entry that took it, as long as it trusts what it knows.
const youngest = 24 * trusted

// Compact implements [statestore.Compactor].
func (l *lock) Compact(ctx context.Context, before int64) (removed int, err error) {
	err = l.store.within(ctx, l.info.Deployment, func(at *log) error {
		if err := l.verify(at.known); err != nil {
			return err
		}
		newest := int64(len(at.known.versions))
		if before < 1 || before > newest {
			return &statestore.SerialError{Location: l.store.Shown, Deployment: l.info.Deployment, Serial: before, Newest: newest}
		}
		now, err := l.store.now(ctx)
		if err != nil {
			return err
		}
		removed, err = at.compact(ctx, at.known.versions[before-1].last, now.Add(-l.store.keeps))
		return err
	})
	return removed, err
}

// compact removes what is not needed for the state after an entry and later ones, if it is older
// than a time by the clock of the service.
func (l *log) compact(ctx context.Context, needed int64, before time.Time) (removed int, err error) {
	there, err := l.contents(ctx)
	if err != nil {
		return 0, err
	}
	base, err := l.base(ctx, there, needed, before)
	if err != nil || base == 0 {
		return 0, err
	}
	var names []string // oldest first, so that what is left by an interrupt has no gaps
	for _, number := range there.entries {
		if number <= base {
			names = append(names, objectName(l.folder, number, entryKind))
		}
	}
	for _, number := range there.snapshots {
		if number < base {
			names = append(names, objectName(l.folder, number, snapshotKind))
		}
	}
	for some := range slices.Chunk(names, requests) {
		group, within := errgroup.WithContext(ctx)
		for _, name := range some {
			group.Go(func() error { return l.place.Remove(within, name) })
		}
		if err := group.Wait(); err != nil {
			return removed, err
		}
		removed += len(some)
	}
	return removed, nil
}

// base returns the number of the snapshot from which the log goes on, which is made if it is not
// there; 0 if everything is too young.
func (l *log) base(ctx context.Context, there contents, needed int64, before time.Time) (int64, error) {
	isOld := func(number int64) (bool, error) {
		at, err := l.place.Modified(ctx, objectName(l.folder, number, entryKind))
		if errors.Is(err, objectstore.ErrMissing) { // removed before
			return true, nil
		}
		return at.Before(before), err
	}
	if old, err := isOld(needed); err != nil {
		return 0, err
	} else if old {
		return needed, l.makeSnapshot(ctx, there, needed)
	}
	for _, number := range slices.Backward(there.snapshots) {
		if number >= needed {
			continue
		}
		if old, err := isOld(number); old || err != nil {
			return number, err
		}
	}
	return 0, nil
}

// makeSnapshot makes the snapshot of the log up to an entry, if it is not there.
func (l *log) makeSnapshot(ctx context.Context, there contents, number int64) error {
	if slices.Contains(there.snapshots, number) {
		return nil
	}
	past, err := l.until(ctx, there, number)
	if err != nil {
		return err
	}
	object, err := frame(fromModel(past.known))
	if err != nil {
		return err
	}
	if err := l.place.Create(ctx, objectName(l.folder, number, snapshotKind), object); !errors.Is(err, objectstore.ErrExists) {
		return err
	}
	return nil
}
