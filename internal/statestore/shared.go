// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"context"
	"io/fs"
	"os"
	"sync"
)

// Shared is common to stores that one process has open at the same locations, as those of several
// deployments of one stack: writers queue here, where nobody waits by polling, and checks of a
// whole file are done once. The zero value knows nothing yet. It is safe for concurrent use.
type Shared struct {
	mu struct {
		sync.Mutex
		files map[string]*sharedFile // by path
	}
}

// sharedFile is the part of a [Shared] for one file.
type sharedFile struct {
	turn     chan struct{}
	reserves reserves

	mu struct {
		sync.Mutex
		checked   fs.FileInfo // the file in which nothing was found to be damaged; nil if nobody has looked
		structure fs.FileInfo // the file of which SQLite has found its structures in order
	}
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

// wasChecked reports whether somebody has looked at a whole file.
func (f *sharedFile) wasChecked(file fs.FileInfo) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return isFile(f.mu.checked, file)
}

func (f *sharedFile) setChecked(file fs.FileInfo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.checked, f.mu.structure = file, file
}

// hasStructure reports whether somebody has had SQLite verify its structures in a file.
func (f *sharedFile) hasStructure(file fs.FileInfo) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return isFile(f.mu.structure, file)
}

func (f *sharedFile) setStructure(file fs.FileInfo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.structure = file
}

// isFile reports whether two files, either of which may be nil for none, are the same.
func isFile(known, file fs.FileInfo) bool {
	return known != nil && file != nil && os.SameFile(known, file)
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
	if tx.sealed() && s.shared.wasChecked(file) {
		return nil
	}
	if err := s.checkAll(ctx, tx); err != nil {
		return err
	}
	s.shared.setChecked(file)
	return nil
}

// checkStructureOnce has SQLite verify its own structures, unless a store with the same [Shared]
// has done it.
func (s *sqliteStore) checkStructureOnce(ctx context.Context, tx *transaction) error {
	if s.shared == nil {
		return s.checkStructure(ctx, tx)
	}
	file := s.openFile()
	if s.shared.hasStructure(file) {
		return nil
	}
	if err := s.checkStructure(ctx, tx); err != nil {
		return err
	}
	s.shared.setStructure(file)
	return nil
}
