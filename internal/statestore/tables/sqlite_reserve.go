// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// reserves is the space that is kept back next to a file until that is needed to save finished
// work: one file for all locks of this process that share it, since their writes queue. It has the
// name of the process and of one of the locks, so that the next one that is taken removes it when
// that holder is gone. Those of other holders are left alone, of the same deployment as well.
type reserves struct {
	mu struct {
		sync.Mutex
		path    string // of the file
		holders map[*reserve]bool
		used    bool
	}
}

// reserve is the part of one lock in it.
type reserve struct {
	path  string // that the file has while it is named by this one
	of    *reserves
	spent atomic.Bool
}

// The size of a reserve is that of the state with its history, as all of it may
// have to be written anew, twice: to the log, and from there to the file.
const (
	leastReserve = 1 << 20
	mostReserve  = 64 << 20
)

// reservePrefix is how the names of reserves begin.
func (s *sqliteStore) reservePrefix() string { return "." + filepath.Base(s.path) + ".reserve-" }

// reserve makes the reserve of a lock that was just taken, unless it can share one. Those that were
// left by others make room for it.
func (s *sqliteStore) reserve(ctx context.Context, lockID string, wanted bool) (*reserve, error) {
	if err := s.removeReserves(ctx); err != nil || !wanted {
		return nil, err
	}
	r := &reserve{of: &reserves{}, path: filepath.Join(filepath.Dir(s.path),
		s.reservePrefix()+processSuffix(statestore.CurrentProcess(), lockID))}
	if s.shared != nil {
		r.of = &s.shared.reserves
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return nil, s.missingOr(err)
	}
	size := min(max(2*info.Size(), leastReserve), mostReserve)
	if err := r.of.hold(r, size); err != nil {
		err = s.full(err)
		if full, ok := errors.AsType[*statestore.StoreError](err); ok && full.Problem == statestore.ProblemFull {
			full.Detail = fmt.Sprintf("is not changed: %d MB of space in %s, to be kept back for saving completed changes, are not there",
				(size+1<<20-1)>>20, filepath.Dir(s.path))
			full.Remedy = "free some space and run the command again; nothing was done"
			return nil, full
		}
		return nil, s.fault(statestore.ProblemIO,
			"is not changed: no space can be kept back for saving completed changes",
			"check the directory "+filepath.Dir(s.path), err)
	}
	return r, nil
}

// removeReserves removes the reserves of processes that are gone. Where that cannot be seen, those
// of locks that are gone: a process that runs elsewhere has the lock that its reserve is named by.
func (s *sqliteStore) removeReserves(ctx context.Context) error {
	directory := filepath.Dir(s.path)
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil //nolint:nilerr // a directory may be written to without being readable
	}
	var unclear []string // suffixes
	for _, entry := range entries {
		suffix, isReserve := strings.CutPrefix(entry.Name(), s.reservePrefix())
		if !isReserve || !entry.Type().IsRegular() {
			continue
		}
		switch processOf(suffix).Status() {
		case statestore.ProcessGone:
			if err := removeFile(filepath.Join(directory, entry.Name())); err != nil {
				return err
			}
		case statestore.ProcessUnknown:
			unclear = append(unclear, suffix)
		}
	}
	if len(unclear) == 0 {
		return nil
	}
	// After the names of the files were read: whoever makes one has the lock before.
	locks, err := s.Locks(ctx)
	if err != nil {
		return err
	}
	for _, suffix := range unclear {
		isOf := func(lock statestore.LockInfo) bool { return strings.HasSuffix(suffix, "_"+lock.ID) }
		if !slices.ContainsFunc(locks, isOf) {
			if err := removeFile(filepath.Join(directory, s.reservePrefix()+suffix)); err != nil {
				return err
			}
		}
	}
	return nil
}

// hold lets r have a part in the file, which is made or enlarged if it is not as large as that.
func (all *reserves) hold(r *reserve, size int64) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.mu.holders) == 0 {
		if err := enlargeFile(r.path, size); err != nil {
			return errors.Join(err, removeFile(r.path))
		}
		all.mu.path, all.mu.holders, all.mu.used = r.path, map[*reserve]bool{}, false
	} else if err := enlargeFile(all.mu.path, size); err != nil {
		return err
	}
	all.mu.holders[r] = true
	return nil
}

// enlargeFile adds to a file, which it makes if there is none, until it has this size. Its content
// is random, as some file systems keep nothing else at its full size. A file that the disk has no
// room for is as it was.
func enlargeFile(path string, size int64) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil || info.Size() >= size {
		return errors.Join(err, file.Close())
	}
	var seed [32]byte
	_, _ = rand.Read(seed[:])
	if _, err = io.CopyN(file, mathrand.NewChaCha8(seed), size-info.Size()); err != nil {
		err = errors.Join(err, file.Truncate(info.Size()))
	}
	return errors.Join(err, file.Close())
}

// spend calls write, and once more without the reserve if the disk is full.
// It may be called for nil.
func (r *reserve) spend(write func() error) error {
	err := write()
	full, ok := errors.AsType[*statestore.StoreError](err)
	if r == nil || !ok || full.Problem != statestore.ProblemFull || r.spent.Swap(true) {
		return err
	}
	if removeErr := r.of.use(); removeErr != nil {
		return errors.Join(err, removeErr)
	}
	return write()
}

// use gives up the file.
func (all *reserves) use() error {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.mu.used = true
	return removeFile(all.mu.path)
}

// isUsed reports whether the file was given up: for whichever lock that was, none has one any more.
func (r *reserve) isUsed() bool {
	if r == nil {
		return false
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	return r.of.mu.used
}

// pass leaves the file to the other locks that have a part in it, if there are any, before r is
// unlocked: it has the name of a lock that is held. It may be called for nil.
func (r *reserve) pass() error {
	if r == nil {
		return nil
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	if len(r.of.mu.holders) == 1 {
		return nil
	}
	return r.of.drop(r)
}

// release ends the part that r has in the file, and removes it with the last. It may be called for
// nil.
func (r *reserve) release() error {
	if r == nil {
		return nil
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	return r.of.drop(r)
}

// drop is for a caller that has locked all. It does nothing for one that was dropped.
func (all *reserves) drop(r *reserve) error {
	if !all.mu.holders[r] {
		return nil
	}
	delete(all.mu.holders, r)
	if len(all.mu.holders) == 0 {
		return removeFile(all.mu.path)
	}
	if all.mu.path != r.path {
		return nil
	}
	for other := range all.mu.holders { // any of them
		if err := os.Rename(r.path, other.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		all.mu.path = other.path
		break
	}
	return nil
}

// removeFile removes a file, if it is there.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
