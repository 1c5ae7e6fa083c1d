// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"context"
	"errors"
)

// Peek returns the current state of a deployment in a file, and leaves no trace on the disk, not
// even the log that SQLite has while it reads. That works while nobody writes to the file:
// otherwise the problem is [ProblemBusy].
func Peek(ctx context.Context, path, deployment string) (*Snapshot, error) {
	opened, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	store, isFile := opened.(*sqliteStore)
	if !isFile {
		return nil, errors.Join(errNoFile, opened.Close())
	}
	store.traceless = true
	snapshot, err := store.Read(ctx, deployment)
	return snapshot, errors.Join(err, store.Close())
}

var errNoFile = errors.New("the state is in no file")
