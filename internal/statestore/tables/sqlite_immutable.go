// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/access"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// needsImmutable reports whether the file must be read without SQLite's log:
// with no right to write, SQLite could neither make the log's index nor
// tidy up after itself.
func (s *sqliteStore) needsImmutable() bool {
	if s.mayWrite() {
		return false
	}
	// Someone else's log holds changes that are not in the file yet.
	info, err := os.Stat(s.path + "-wal")
	return err != nil || info.Size() == 0
}

// mayWrite reports whether SQLite may write to the file and make others next to it.
func (s *sqliteStore) mayWrite() bool {
	return !s.traceless && access.Writable(s.path) && access.Writable(filepath.Dir(s.path))
}

// readImmutable reads a file that SQLite takes for unchangeable. Since
// someone with more rights may change it all the same, the result counts only
// if the file was left alone meanwhile.
func (s *sqliteStore) readImmutable(ctx context.Context, fn func(*transaction) error) error {
	before, err := os.Stat(s.path)
	if err != nil {
		return s.missingOr(err)
	}
	db, err := s.connect(ctx, "immutable")
	if err != nil {
		return err
	}
	err = errors.Join(s.readFrom(ctx, db, fn), s.explain(ctx, s.disconnect(db)))
	if err != nil {
		return err
	}
	after, err := os.Stat(s.path)
	if err != nil || !os.SameFile(before, after) || before.Size() != after.Size() ||
		!before.ModTime().Equal(after.ModTime()) || !s.needsImmutable() {
		return s.changedMeanwhile(err)
	}
	return nil
}

func (s *sqliteStore) changedMeanwhile(err error) error {
	return s.fault(statestore.ProblemBusy, "was changed by someone else while it was read", "run the command again", err)
}
