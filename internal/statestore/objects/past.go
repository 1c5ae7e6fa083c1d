// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/objectstore"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// contents are the numbers of the objects of a log, oldest first.
type contents struct{ entries, snapshots []int64 }

// contents lists a whole log.
func (l *log) contents(ctx context.Context) (c contents, err error) {
	for token := []byte(nil); ; {
		var names []string
		names, token, err = l.place.List(ctx, l.folder, token, objectstore.MostListed)
		if err != nil {
			return c, err
		}
		for _, name := range names {
			switch number, kind, ok := parseName(l.folder, name); {
			case ok && kind == entryKind:
				c.entries = append(c.entries, number)
			case ok:
				c.snapshots = append(c.snapshots, number)
			}
		}
		if token == nil {
			slices.Reverse(c.entries)
			slices.Reverse(c.snapshots)
			return c, nil
		}
	}
}

// ReadSerial implements [statestore.Store].
func (s *store) ReadSerial(ctx context.Context, deployment string, serial int64) (snapshot *statestore.Snapshot, err error) {
	err = s.within(ctx, deployment, func(l *log) error {
		snapshot, err = l.readSerial(ctx, serial)
		return err
	})
	return snapshot, err
}

func (l *log) readSerial(ctx context.Context, serial int64) (*statestore.Snapshot, error) {
	newest := int64(len(l.known.versions))
	switch {
	case serial < 0 || serial > newest:
		return nil, &statestore.SerialError{
			Location: l.place.Shown, Deployment: l.known.deployment, Serial: serial, Newest: newest,
		}
	case serial == 0:
		return &statestore.Snapshot{Lineage: l.known.lineage, Records: map[string][]byte{}}, nil
	case serial == newest:
		return l.known.snapshot(), nil
	}
	version := l.known.versions[serial-1]
	there, err := l.contents(ctx)
	if err != nil {
		return nil, err
	}
	past, err := l.until(ctx, there, version.last)
	if errors.Is(err, errDropped) {
		return nil, &statestore.SerialError{
			Location: l.place.Shown, Deployment: l.known.deployment, Serial: serial, Newest: newest, Dropped: true,
		}
	}
	if err != nil {
		return nil, err
	}
	snapshot := past.known.snapshot()
	snapshot.Version = version.Version
	return snapshot, nil
}

// Revisions implements [statestore.Store]. It reads the log once.
func (s *store) Revisions(
	ctx context.Context, deployment string, keys []string,
) (past map[string]statestore.Revisions, err error) {
	err = s.within(ctx, deployment, func(l *log) error {
		past, err = l.revisions(ctx, keys)
		return err
	})
	return past, err
}

func (l *log) revisions(ctx context.Context, keys []string) (map[string]statestore.Revisions, error) {
	past := map[string]statestore.Revisions{}
	if len(l.known.versions) == 0 {
		return past, nil
	}
	there, err := l.contents(ctx)
	if err != nil {
		return nil, err
	}
	all := newLog(l.place, l.known.deployment)
	look := func(earlier bool) {
		for _, key := range keys {
			revision := statestore.Revision{Serial: all.known.base().Serial, Earlier: earlier}
			if value, ok := all.known.records[key]; ok {
				revision.Value = append([]byte{}, value...) // the same for an empty one as by other stores
			}
			of := past[key]
			of.Add(revision)
			past[key] = of
		}
	}
	if start := there.start(); start > 0 {
		if err := all.load(ctx, start); err != nil {
			return nil, err
		}
		look(true)
	}
	all.added = func() { look(false) }
	err = all.follow(ctx, l.known.number)
	maps.DeleteFunc(past, func(_ string, of statestore.Revisions) bool { return len(of) == 0 })
	return past, l.gone(err)
}

var errDropped = errors.New("the entry was dropped when the history was compacted")

// until returns the log up to an entry. It fails with errDropped if it cannot be known any more.
func (l *log) until(ctx context.Context, there contents, number int64) (*log, error) {
	past := newLog(l.place, l.known.deployment)
	for _, snapshot := range slices.Backward(there.snapshots) {
		if snapshot <= number {
			if err := past.load(ctx, snapshot); err != nil {
				return nil, err
			}
			break
		}
	}
	if start := there.start(); past.known.number < start {
		return nil, errDropped
	}
	return past, l.gone(past.follow(ctx, number))
}

// gone returns the error of an entry that is missing.
func (l *log) gone(err error) error {
	if errors.Is(err, objectstore.ErrMissing) {
		return l.place.corrupt(fmt.Sprintf("an entry in the log of deployment %q is missing", l.known.deployment))
	}
	return err
}

// Check implements [statestore.Store].
func (s *store) Check(ctx context.Context) error {
	if err := s.open(); err != nil {
		return err
	}
	names, err := s.catalog.deployments(ctx)
	if err != nil {
		return err
	}
	return s.each(ctx, names, func(ctx context.Context, l *log) error { return l.gone(l.check(ctx)) })
}

// check reads all objects of a log, and makes sure that each snapshot is that of the entries before
// it, and that they lead to what is known.
func (l *log) check(ctx context.Context) error {
	there, err := l.contents(ctx)
	if err != nil {
		return err
	}
	all := newLog(l.place, l.known.deployment)
	if start := there.start(); start > 0 {
		if err := all.load(ctx, start); err != nil {
			return err
		}
	}
	for _, number := range there.snapshots {
		if number <= all.known.number || number > l.known.number {
			continue
		}
		if err := all.follow(ctx, number); err != nil {
			return err
		}
		snapshot, _, err := l.readSnapshot(ctx, number)
		if err != nil {
			return err
		}
		if !proto.Equal(fromModel(snapshot), fromModel(all.known)) {
			return l.place.corrupt(fmt.Sprintf("snapshot %d of deployment %q is not that of the entries before it", number, l.known.deployment))
		}
	}
	if err := all.follow(ctx, l.known.number); err != nil {
		return err
	}
	if !proto.Equal(fromModel(all.known), fromModel(l.known)) {
		return l.place.corrupt(fmt.Sprintf("the log of deployment %q has changed since it was read", l.known.deployment))
	}
	return nil
}

// start returns the number of the snapshot from which all entries are there, 0 if they all are.
func (c *contents) start() int64 {
	first := int64(1)
	if len(c.entries) > 0 {
		first = c.entries[0]
	}
	for _, number := range c.snapshots {
		if first > 1 && number >= first-1 {
			return number
		}
	}
	return 0
}
