// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package ordinary

import (
	"os"

	"github.com/cairnstacks/cairn/internal/filelock"
)

// tryReadLock locks a file until it is closed, and reports false if somebody else has it locked.
func tryReadLock(file *os.File) (bool, error) { return filelock.TryLock(file) }
