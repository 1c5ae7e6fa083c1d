// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// zombie is the state of a process that has ended and only waits for its parent to notice.
const zombie = 5

// processStart returns when a process started. It is not alive if it is gone or has ended.
func processStart(pid int) (start string, alive bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || info.Proc.P_stat == zombie {
		return "", false
	}
	at := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", at.Sec, at.Usec), true
}
