// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/records"
	"github.com/cairnstacks/cairn/internal/workers/sources"
)

// ErrNoSet says that a run has no set of plans.
var ErrNoSet = errors.New("no set of plans is kept with it")

// KeepSet records the directory of the set of plans that a run applies, or has planned.
func (s *Store) KeepSet(ctx context.Context, id, dir string) error {
	archive, _, err := sources.Pack(dir)
	if err != nil {
		return err
	}
	return s.Keep(ctx, id, setName, archive)
}

// Set writes the set of plans of a run into an empty directory.
//
// Errors: [ErrNoSet].
func (s *Store) Set(ctx context.Context, id, dir string) error {
	archive, err := s.Kept(ctx, id, setName)
	if errors.Is(err, records.ErrMissing) || errors.Is(err, records.ErrName) {
		return ErrNoSet
	}
	if err != nil {
		return err
	}
	return sources.Unpack(archive, dir)
}

// Progress returns how far the set was applied that a run has planned, as [Store.KeepProgress] has
// recorded it last, and the number of that record. Both are zero if no apply has begun.
func (s *Store) Progress(ctx context.Context, id string) (content []byte, number int, err error) {
	names, err := s.Records.List(ctx, calls.Folder(id)+progressFolder)
	if err != nil || len(names) == 0 {
		return nil, 0, err
	}
	content, err = s.open(ctx, names[len(names)-1])
	return content, len(names), err
}

// KeepProgress records how far the set was applied, under the number after that of the record
// before.
//
// Errors: [records.ErrExists]: another process applies it.
func (s *Store) KeepProgress(ctx context.Context, id string, number int, content []byte) error {
	return s.seal(ctx, fmt.Sprintf("%s%s%06d", calls.Folder(id), progressFolder, number), content)
}
