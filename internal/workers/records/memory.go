// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package records

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
)

// memoryStore has its records in this process.
type memoryStore struct {
	mu struct {
		sync.Mutex
		records map[string][]byte
	}
}

// InMemory returns an empty store in memory, for tests.
func InMemory() Store {
	s := &memoryStore{}
	s.mu.records = map[string][]byte{}
	return s
}

// Put implements [Store].
func (s *memoryStore) Put(ctx context.Context, name string, content []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	there, exists := s.mu.records[name]
	switch {
	case !exists:
		s.mu.records[name] = bytes.Clone(content)
	case !bytes.Equal(there, content):
		return ofRecord(name, ErrExists)
	}
	return nil
}

// Get implements [Store].
func (s *memoryStore) Get(ctx context.Context, name string) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	content, ok := s.mu.records[name]
	if !ok {
		return nil, ofRecord(name, ErrMissing)
	}
	return bytes.Clone(content), nil
}

// GetAll implements [Store].
func (s *memoryStore) GetAll(ctx context.Context, names []string) ([][]byte, error) {
	return getEach(ctx, s, names)
}

// List implements [Store].
func (s *memoryStore) List(ctx context.Context, prefix string) ([]string, error) {
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.mu.records {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Remove implements [Store].
func (s *memoryStore) Remove(ctx context.Context, prefix string) error {
	if err := checkPrefix(prefix); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.mu.records, func(name string, _ []byte) bool { return strings.HasPrefix(name, prefix) })
	return nil
}

// Close implements [Store]. The records stay, for whoever has the store still.
func (s *memoryStore) Close() error { return nil }
