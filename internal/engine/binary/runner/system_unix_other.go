// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix && !linux && !darwin

package runner

import (
	"errors"
	"syscall"
)

// processStart reports whether a process exists. Only its number says which one it is.
func processStart(pid int) (start string, alive bool) {
	return "", !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
