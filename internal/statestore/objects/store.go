// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// store is a [statestore.Store] on object storage.
type store struct {
	*stack
	closed chan struct{} // is closed with the store
}

var _ statestore.Store = (*store)(nil)

var errNoStack = errors.New("it names no stack")

// open fails if the store is closed.
func (s *store) open() error {
	select {
	case <-s.closed:
		return statestore.ErrClosed
	default:
		return nil
	}
}

// Close implements [statestore.Store].
func (s *store) Close() error {
	s.stack.mu.Lock()
	defer s.stack.mu.Unlock()
	if s.open() != nil {
		return nil
	}
	close(s.closed)
	return s.leave()
}

// within is [stack.read] of a store that is open.
func (s *store) within(ctx context.Context, deployment string, fn func(l *log) error) error {
	if err := s.open(); err != nil {
		return err
	}
	return s.stack.read(ctx, deployment, fn)
}

// Read implements [statestore.Store].
func (s *store) Read(ctx context.Context, deployment string) (snapshot *statestore.Snapshot, err error) {
	err = s.within(ctx, deployment, func(l *log) error {
		snapshot = l.known.snapshot()
		return nil
	})
	return snapshot, err
}

// History implements [statestore.Store].
func (s *store) History(ctx context.Context, deployment string) (history []statestore.Version, err error) {
	err = s.within(ctx, deployment, func(l *log) error {
		for _, v := range l.known.versions {
			history = append(history, v.Version)
		}
		return nil
	})
	return history, err
}

// Secret implements [statestore.Store].
func (s *store) Secret(ctx context.Context, deployment string) (secret []byte, err error) {
	err = s.within(ctx, deployment, func(l *log) error {
		secret = slices.Clone(l.known.secret)
		return nil
	})
	return secret, err
}

// Deployments implements [statestore.Store].
func (s *store) Deployments(ctx context.Context) ([]string, error) {
	newest, err := s.Newest(ctx)
	return slices.Sorted(maps.Keys(newest)), err
}

// Newest implements [statestore.Store]. It takes a request for each deployment.
func (s *store) Newest(ctx context.Context) (map[string]statestore.Newest, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	names, err := s.catalog.deployments(ctx)
	if err != nil {
		return nil, err
	}
	newest := map[string]statestore.Newest{}
	var mu sync.Mutex
	err = s.each(ctx, names, func(ctx context.Context, l *log) error {
		if base := l.known.base(); base.Serial > 0 {
			mu.Lock()
			defer mu.Unlock()
			newest[l.known.deployment] = statestore.Newest{Base: base, Finished: !l.known.newest().Unfinished()}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return newest, nil
}

// each calls a function for the logs of deployments, for some at a time.
func (s *stack) each(ctx context.Context, names []string, fn func(ctx context.Context, l *log) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(requests)
	for _, name := range names {
		group.Go(func() error {
			return s.read(ctx, name, func(l *log) error { return fn(ctx, l) })
		})
	}
	return group.Wait()
}

// Holders implements [statestore.Store].
func (s *store) Holders(ctx context.Context, deployment string) (holders []statestore.LockInfo, err error) {
	err = s.within(ctx, deployment, func(l *log) error {
		holders, err = l.holders(ctx)
		return err
	})
	return holders, err
}

// Locks implements [statestore.Store].
func (s *store) Locks(ctx context.Context) ([]statestore.LockInfo, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	if err := s.catalog.checkHere(ctx); err != nil {
		return nil, err
	}
	folders, err := s.Folders(ctx, s.prefix+"deployments/") // also those of which nothing but a lock is stored
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(folders))
	for _, folder := range folders {
		names = append(names, unescape(folder))
	}
	slices.Sort(names)
	holders := make([][]statestore.LockInfo, len(names))
	err = s.each(ctx, names, func(ctx context.Context, l *log) (err error) {
		holders[slices.Index(names, l.known.deployment)], err = l.holders(ctx)
		return err
	})
	return slices.Concat(holders...), err
}

// holders returns the holders of locks with the ends of their leases.
func (l *log) holders(ctx context.Context) ([]statestore.LockInfo, error) {
	var holders []statestore.LockInfo
	for _, h := range l.known.holders {
		holder := h.LockInfo
		var err error
		if holder.Until, _, err = l.leaseEnd(ctx, h); err != nil {
			return nil, err
		}
		holders = append(holders, holder)
	}
	return holders, nil
}
