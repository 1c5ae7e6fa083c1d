// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planset

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/filelock"
)

// Lock keeps others from applying or replacing the set in a directory until it is unlocked (rule
// P5). Where there is no set, there is nothing to lock, and [Read] says so.
func Lock(dir string) (unlock func(), err error) {
	if _, err := os.Stat(filepath.Join(dir, indexName)); err != nil {
		return func() {}, nil //nolint:nilerr // see above
	}
	file, err := openLock(dir)
	if err != nil {
		return nil, failure.Error("Set of plans not locked",
			"The set in %s cannot be locked against others who apply it: %s. Nothing was done.", dir, failure.Reason(err))
	}
	locked, err := filelock.TryLock(file)
	switch {
	case err != nil:
		err = failure.Error("Set of plans not locked",
			"The set in %s cannot be locked against others who apply it: %s. Nothing was done.", dir, failure.Reason(err))
	case !locked:
		err = failure.Error("Set of plans in use", "Another process is applying the set in %s. Nothing was done. "+
			"Wait for it to end; then the same command goes on with the rest.", dir)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil //nolint:errcheck // nothing was written
}

func openLock(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
}

// makeLock makes the file that is locked, so that an apply which is refused changes nothing.
func makeLock(dir string) error {
	file, err := openLock(dir)
	if err != nil {
		return err
	}
	return file.Close()
}
