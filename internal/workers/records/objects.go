// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package records

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/objectstore"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// objectStore has a record in an object of a bucket, or in a file of a directory.
type objectStore struct {
	client *objectstore.Client
	folder string // of names, with a slash at its end if it is not empty
}

// requestTime is how long a request may take: records have the packages of runs, too.
const requestTime = 5 * time.Minute

func newObjectStore(a objectstore.Address, away func(statestore.Outage)) *objectStore {
	client := objectstore.NewClient(a, &statestore.Reach{}, away)
	client.RequestTime = requestTime
	return &objectStore{client, a.Folder()}
}

// Put implements [Store].
func (s *objectStore) Put(ctx context.Context, name string, content []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	err := s.client.Create(ctx, s.folder+name, content)
	if !errors.Is(err, objectstore.ErrExists) {
		return explain(err)
	}
	return compare(ctx, s, name, content)
}

// Get implements [Store].
func (s *objectStore) Get(ctx context.Context, name string) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	content, err := s.client.Read(ctx, s.folder+name)
	if errors.Is(err, objectstore.ErrMissing) {
		return nil, ofRecord(name, ErrMissing)
	}
	return content, explain(err)
}

// GetAll implements [Store].
func (s *objectStore) GetAll(ctx context.Context, names []string) ([][]byte, error) {
	return getEach(ctx, s, names)
}

// List implements [Store].
func (s *objectStore) List(ctx context.Context, prefix string) ([]string, error) {
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	names, err := s.client.ListAll(ctx, s.folder+prefix)
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], s.folder)
	}
	return names, explain(err)
}

// Remove implements [Store].
func (s *objectStore) Remove(ctx context.Context, prefix string) error {
	if err := checkPrefix(prefix); err != nil {
		return err
	}
	return explain(s.client.RemoveAll(ctx, s.folder+prefix))
}

// Close implements [Store].
func (s *objectStore) Close() error { return s.client.Close() }
