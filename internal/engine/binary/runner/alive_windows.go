// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// lockAlive makes a new file that nobody else can open. Windows gives locks to processes, and does
// not pass them on; but as long as a process has inherited the handle, opening the file fails.
func lockAlive(name string) (*os.File, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	handle, err := openAlone(name, windows.CREATE_NEW)
	if err != nil {
		return nil, &os.PathError{Op: "create", Path: name, Err: err}
	}
	return os.NewFile(uintptr(handle), name), nil
}

func openAlone(name string, disposition uint32) (windows.Handle, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return 0, err
	}
	inheritable := &windows.SecurityAttributes{InheritHandle: 1}
	inheritable.Length = uint32(unsafe.Sizeof(*inheritable))
	const shared = 0
	return windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, shared, inheritable, disposition,
		windows.FILE_ATTRIBUTE_NORMAL, 0)
}

// inherit lets the process have the file.
func inherit(cmd *exec.Cmd, file *os.File) {
	cmd.SysProcAttr.AdditionalInheritedHandles = append(cmd.SysProcAttr.AdditionalInheritedHandles, syscall.Handle(file.Fd()))
}

// isHeld reports whether a process has the file that lockAlive has made.
func isHeld(name string) (bool, error) {
	handle, err := openAlone(name, windows.OPEN_EXISTING)
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		return true, nil
	}
	if err != nil {
		return false, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return false, windows.CloseHandle(handle)
}
