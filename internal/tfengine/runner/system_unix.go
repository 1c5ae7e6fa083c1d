// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package runner

import (
	"errors"
	"syscall"
)

func ownProcessGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// interruptProcess sends an interrupt to the process only: it passes on to its children what they need to know.
func interruptProcess(pid int) error {
	return ignoreGone(syscall.Kill(pid, syscall.SIGINT))
}

func killGroup(pid int) error {
	return ignoreGone(syscall.Kill(-pid, syscall.SIGKILL))
}

func ignoreGone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// processRunning reports whether a process exists, has not ended yet, and is the one that started at start.
func processRunning(pid int, start string) bool {
	current, alive := processStart(pid)
	return alive && current == start
}
