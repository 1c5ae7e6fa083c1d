// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package filelock

import (
	"context"
	"errors"
	"os"
	"time"
)

// pollTime is the time between two tries to lock a file.
const pollTime = 100 * time.Millisecond

// InPlace reports whether an open file is still the one that its path names. A process that removes
// lock files may have removed it before it was locked.
func InPlace(file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(file.Name())
	return err == nil && os.SameFile(opened, named)
}

// Lock locks a file, which is made if there is none, and waits for others who have locked it.
//
// Errors: the cause of the end of ctx among others.
func Lock(ctx context.Context, name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		locked, err := TryLock(file)
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if locked {
			return func() { _ = file.Close() }, nil //nolint:errcheck // nothing was written
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), file.Close())
		case <-time.After(pollTime):
		}
	}
}
