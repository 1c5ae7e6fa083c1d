// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package runner

import (
	"errors"
	"os"
	"syscall"
)

// writeWhatFits writes to a pipe without waiting for a reader.
func writeWhatFits(pipe *os.File, data []byte) (written int, err error) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return 0, err
	}
	controlErr := conn.Write(func(descriptor uintptr) bool {
		written, err = syscall.Write(int(descriptor), data)
		return true
	})
	if errors.Is(err, syscall.EAGAIN) || written < 0 {
		return 0, controlErr
	}
	return written, errors.Join(err, controlErr)
}

func ownProcessGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// interruptProcess sends an interrupt to the process only: it tells its children itself.
func interruptProcess(pid int) error {
	return ignoreGone(syscall.Kill(pid, syscall.SIGINT))
}

func killProcess(pid int) error {
	return ignoreGone(syscall.Kill(pid, syscall.SIGKILL))
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

// processRunning reports whether a process exists, has not ended yet, and is the one that started
// at start.
func processRunning(pid int, start string) bool {
	current, alive := processStart(pid)
	return alive && current == start
}
