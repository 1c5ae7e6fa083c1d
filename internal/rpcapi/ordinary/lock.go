// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package ordinary

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// How long the lock of a file is waited for, and how often it is tried.
const (
	lockPatience = 3 * time.Second
	lockInterval = 50 * time.Millisecond
)

// readLocked reads a state file while nobody writes it. A file that does not exist is empty.
func readLocked(ctx context.Context, path string) ([]byte, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer file.Close() //nolint:errcheck // nothing was written; it is unlocked, too
	if err := lock(ctx, file); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return text, nil
}

func unreadable(path string, err error) error {
	return failure.Error("Unreadable state", "The state %s cannot be read: %s.", path, failure.Reason(err))
}

func lock(ctx context.Context, file *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	retry := time.NewTicker(lockInterval)
	defer retry.Stop()
	for {
		locked, err := tryReadLock(file)
		if err != nil {
			return unreadable(file.Name(), err)
		}
		if locked {
			return nil
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return failure.Error("State locked", "The state %s is locked%s. Wait until that has ended, and try again.",
				file.Name(), holder(file.Name()))
		}
	}
}

// maxLockInfo is how much is read of a description of a lock.
const maxLockInfo = 4 << 20

// holder names the holder of the lock of a state, if that is known.
func holder(path string) string {
	text, err := safefile.Read(safefile.OS{}, filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock.info"), maxLockInfo)
	if err != nil {
		return ""
	}
	var info struct{ Operation, Who string }
	if err := json.Unmarshal(text, &info); err != nil || info.Who == "" {
		return ""
	}
	return " by " + info.Who + " (" + info.Operation + ")"
}
