// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"fmt"
	"sync"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// Shared is common to stores that one process has open at the same locations: connections, and the
// logs as far as they were read. The zero value knows nothing yet. It is safe for concurrent use.
type Shared struct {
	mu struct {
		sync.Mutex
		stacks map[string]*stack            // by location
		reach  map[string]*statestore.Reach // by bucket
	}
}

// stack is the states of one stack, for all stores of this process at the same location.
type stack struct {
	*place
	catalog *catalog

	shared   *Shared
	location string
	users    int // guarded by shared.mu

	mu struct {
		sync.Mutex
		logs map[string]*log // by deployment
	}
}

// Open returns the store of a stack at a location on object storage, or in a directory. Shared may
// be nil. Nothing is connected to, and nothing made, yet.
func Open(location string, shared *Shared, opts statestore.Options) (statestore.Store, error) {
	a, err := parse(location)
	if err != nil {
		return nil, unusable(location, err)
	}
	if a.stack == "" {
		return nil, unusable(location, errNoStack)
	}
	if shared == nil {
		shared = &Shared{}
	}
	return &store{stack: shared.stack(location, a, opts), closed: make(chan struct{})}, nil
}

func (s *Shared) stack(location string, a address, opts statestore.Options) *stack {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stacks == nil {
		s.mu.stacks, s.mu.reach = map[string]*stack{}, map[string]*statestore.Reach{}
	}
	found := s.mu.stacks[location]
	if found == nil {
		bucket := a.Scheme + "://" + a.Bucket
		if s.mu.reach[bucket] == nil {
			s.mu.reach[bucket] = &statestore.Reach{}
		}
		p := newPlace(a, s.mu.reach[bucket], opts)
		found = &stack{place: p, catalog: newCatalog(p), shared: s, location: location}
		found.mu.logs = map[string]*log{}
		s.mu.stacks[location] = found
	}
	found.users++
	return found
}

// leave closes the connections if nobody else uses them.
func (s *stack) leave() error {
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	if s.users--; s.users > 0 {
		return nil
	}
	delete(s.shared.mu.stacks, s.location)
	return s.Close()
}

func (s *stack) log(deployment string) *log {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.logs[deployment] == nil {
		s.mu.logs[deployment] = newLog(s.place, deployment)
	}
	return s.mu.logs[deployment]
}

// read calls a function with what the log of a deployment says now, in its turn.
func (s *stack) read(ctx context.Context, deployment string, fn func(l *log) error) error {
	l := s.log(deployment)
	return l.within(func() error {
		if err := s.refresh(ctx, l); err != nil {
			return err
		}
		return fn(l)
	})
}

// refresh reads the log of a deployment. An empty one is believed only if the catalog says the
// same. Otherwise somebody may have begun it between both: what the catalog has was written before.
func (s *stack) refresh(ctx context.Context, l *log) error {
	if err := l.refresh(ctx); err != nil {
		return err
	}
	if l.known.number == 0 {
		has, err := s.catalog.has(ctx, l.known.deployment)
		if err != nil || !has {
			return err
		}
		if err := l.refresh(ctx); err != nil {
			return err
		}
		if l.known.number == 0 {
			return s.corrupt(fmt.Sprintf("the log of deployment %q is missing", l.known.deployment))
		}
	}
	if l.known.moved != "" {
		return s.movedTo(l.known.moved, l.known.movedAt)
	}
	return nil
}
