// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/internal/statestore"
	statelogv1 "github.com/cairnstacks/cairn/proto/cairn/statelog/v1"
)

// Import implements [statestore.Lock].
func (l *lock) Import(ctx context.Context, lineage string, v statestore.Version, changes map[string][]byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := statestore.CheckKeys(changes); err != nil {
		return err
	}
	before := statestore.Base{Lineage: lineage, Serial: v.Serial - 1}
	if before.Serial == 0 {
		before.Lineage = ""
		if err := l.store.catalog.enter(ctx, l.info.Deployment); err != nil {
			return err
		}
	}
	return l.write(ctx, func(m *model) (*statelogv1.Entry, error) {
		if m.base() != before {
			return nil, l.stale(before, m)
		}
		write := m.changes(changes)
		if total := m.total(write); total != v.Total {
			return nil, fmt.Errorf("serial %d of deployment %q has %d records after it was copied, and should have %d; this is a bug in cairn",
				v.Serial, l.info.Deployment, total, v.Total)
		}
		return &statelogv1.Entry{Event: &statelogv1.Entry_Import{Import: &statelogv1.Serial{
			Lineage: lineage, Version: fromVersion(version{Version: v}), Write: write,
		}}}, nil
	})
}

// total returns the number of records after changes, each of which is one.
func (m *model) total(write *statelogv1.Write) int64 {
	total := int64(len(m.records))
	for _, r := range write.GetRecords() {
		switch _, exists := m.records[string(r.GetKey())]; {
		case r.GetDeleted():
			total--
		case !exists:
			total++
		}
	}
	return total
}

// MarkMoved implements [statestore.Store]. Once the catalog says it, nobody takes a lock any more;
// then the logs say it, too, which whoever reads them asks.
func (s *store) MarkMoved(ctx context.Context, to string, newest map[string]statestore.Newest) error {
	have, err := s.Newest(ctx)
	if err != nil {
		return err
	}
	if !maps.Equal(have, newest) {
		return statestore.ErrChanged
	}
	names, err := s.catalog.deployments(ctx)
	if err != nil {
		return err
	}
	at := statestore.Now()
	if err := s.catalog.move(ctx, to, names, at); err != nil {
		return err
	}
	for _, name := range slices.Sorted(slices.Values(names)) {
		l := s.log(name)
		err := l.within(func() error {
			return l.append(ctx, false, func(m *model) (*statelogv1.Entry, error) {
				if m.number == 0 || m.moved != "" {
					return nil, errNothing
				}
				return &statelogv1.Entry{Event: &statelogv1.Entry_Moved{Moved: to}}, nil
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
