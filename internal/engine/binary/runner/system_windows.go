// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// writeWhatFits writes nothing: whether it would wait for a reader is not known.
func writeWhatFits(*os.File, []byte) (written int, err error) { return 0, nil }

func ownProcessGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// interruptProcess sends Ctrl-Break, which is the only event that reaches another process group.
// The engine takes it for an interrupt.
func interruptProcess(pid int) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(pid))
}

// killGroup ends the process alone: Windows does not end a group.
func killGroup(pid int) error { return killProcess(pid) }

func killProcess(pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return nil // gone
	}
	defer process.Release() //nolint:errcheck // only frees the handle
	if err := process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

func processRunning(pid int, start string) bool {
	current, alive := processStart(pid)
	return alive && current == start
}

// processStart returns when a process started. It is not alive if it is gone or has ended.
func processStart(pid int) (start string, alive bool) {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return "", false
	}
	defer windows.CloseHandle(handle) //nolint:errcheck // nothing to do about it
	if event, err := windows.WaitForSingleObject(handle, 0); err != nil || event == windows.WAIT_OBJECT_0 {
		return "", false
	}
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(handle, &created, &exited, &kernel, &user); err != nil {
		return "", false
	}
	return fmt.Sprint(created.Nanoseconds()), true
}
