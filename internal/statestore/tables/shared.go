// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// Shared is common to stores that one process has open at the same locations, as those of several
// deployments of one stack: writers queue here, where nobody waits by polling, and checks of a
// whole file are done once. The zero value knows nothing yet. It is safe for concurrent use.
type Shared struct {
	mu struct {
		sync.Mutex
		files   map[string]*sharedFile       // by path
		servers map[string]*postgresServer   // by URL
		reach   map[string]*statestore.Reach // of all servers that there were, by URL
	}
}

// sharedFile is the part of a [Shared] for one file.
type sharedFile struct {
	turn     chan struct{}
	reserves reserves

	checked   verified // as a whole
	structure verified // by SQLite, its own structures
}

func (s *Shared) file(path string) *sharedFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.files == nil {
		s.mu.files = map[string]*sharedFile{}
	}
	if s.mu.files[path] == nil {
		s.mu.files[path] = &sharedFile{turn: make(chan struct{}, 1)}
	}
	return s.mu.files[path]
}

// verified is the file in which a check has found nothing, if there is one.
type verified struct{ file atomic.Pointer[fs.FileInfo] }

// is reports whether it is that file; nil is none.
func (v *verified) is(file fs.FileInfo) bool {
	known := v.file.Load()
	return known != nil && *known != nil && file != nil && os.SameFile(*known, file)
}

// openFile is the file that is open, nil for none.
func (s *sqliteStore) openFile() fs.FileInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.file
}

// checkOnce is a check of the whole file, unless one with the same [Shared] has found nothing
// before. Later writes are sealed.
func (s *sqliteStore) checkOnce(ctx context.Context, tx *transaction) error {
	if s.shared == nil {
		return s.checkAll(ctx, tx)
	}
	file := s.openFile()
	if tx.sealed() && s.shared.checked.is(file) {
		return nil
	}
	if err := s.checkAll(ctx, tx); err != nil {
		return err
	}
	s.shared.checked.file.Store(&file)
	s.shared.structure.file.Store(&file)
	return nil
}

// checkStructureOnce has SQLite verify its own structures, unless a store with the same [Shared]
// has done it.
func (s *sqliteStore) checkStructureOnce(ctx context.Context, tx *transaction) error {
	if s.shared == nil {
		return s.checkStructure(ctx, tx)
	}
	file := s.openFile()
	if s.shared.structure.is(file) {
		return nil
	}
	if err := s.checkStructure(ctx, tx); err != nil {
		return err
	}
	s.shared.structure.file.Store(&file)
	return nil
}
