// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// processScope names this boot.
func processScope() string {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil || boot == "" {
		return ""
	}
	return "darwin " + boot
}

// processExists reports false only if there is certainly no such process.
func processExists(pid int) bool {
	return pid > 0 && !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

// processStart returns when a process started, and whether it is still more
// than an entry in the process table.
func processStart(pid int) (string, string) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return "", ProcessUnknown
	}
	t := info.Proc.P_starttime
	start := strconv.FormatInt(t.Sec, 10) + "." + strconv.FormatInt(int64(t.Usec), 10)
	const zombie = 5 // SZOMB of sys/proc.h
	if info.Proc.P_stat == zombie {
		return start, ProcessGone
	}
	return start, ProcessRunning
}
