// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
)

// reserve is a file that takes up space next to the state until that is needed
// to save what was done. A process that is killed leaves it; the next lock of
// the deployment uses or removes it.
type reserve struct {
	path string
	used atomic.Bool
}

// The size of a reserve is that of the state with its history, as all of it may
// have to be written anew, twice: to the log, and from there to the file.
const (
	leastReserve = 1 << 20
	mostReserve  = 64 << 20
)

// keepReserve makes the reserve of a lock that was just taken, or removes one
// that was left.
func (l *sqliteLock) keepReserve(wanted bool) error {
	s := l.store
	r := &reserve{path: filepath.Join(filepath.Dir(s.path),
		fmt.Sprintf(".%s.reserve-%08x", filepath.Base(s.path), uint32(digest(l.info.Deployment))))} //nolint:gosec // any bits will do
	if !wanted {
		return r.remove()
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return s.missingOr(err)
	}
	size := min(max(2*info.Size(), leastReserve), mostReserve)
	if err := r.fill(size); err != nil {
		err = errors.Join(s.full(err), r.remove())
		if full, ok := errors.AsType[*StoreError](err); ok && full.Problem == ProblemFull {
			full.Detail = fmt.Sprintf("is not changed: %d MB of space in %s, to be kept back for saving what is done, are not there",
				(size+1<<20-1)>>20, filepath.Dir(s.path))
			full.Remedy = "free some space and run the command again; nothing was done"
			return full
		}
		return &StoreError{
			Location: s.path, Problem: ProblemIO, Detail: "is not changed: no space can be kept back for saving what is done",
			Remedy: "check the directory " + filepath.Dir(s.path), Err: err,
		}
	}
	l.reserve = r
	return nil
}

// fill makes the file, unless there is one that is large enough. What is in it is
// random, as some file systems keep nothing else at its full size.
func (r *reserve) fill(size int64) error {
	if info, err := os.Lstat(r.path); err == nil && info.Mode().IsRegular() && info.Size() >= size {
		return nil
	}
	if err := r.remove(); err != nil {
		return err
	}
	file, err := os.OpenFile(r.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(file, rand.Reader, size)
	return errors.Join(err, file.Close())
}

// spend calls write, and once more without the reserve if the disk is full.
// It may be called for nil.
func (r *reserve) spend(write func() error) error {
	err := write()
	full, ok := errors.AsType[*StoreError](err)
	if r == nil || !ok || full.Problem != ProblemFull || r.used.Swap(true) {
		return err
	}
	if removeErr := r.remove(); removeErr != nil {
		return errors.Join(err, removeErr)
	}
	return write()
}

func (r *reserve) isUsed() bool { return r != nil && r.used.Load() }

// remove removes the file, if it is there.
func (r *reserve) remove() error {
	if r == nil {
		return nil
	}
	if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
