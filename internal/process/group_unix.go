// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// inOwnGroup makes a command the leader of a process group.
func inOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// send sends a signal to a command, or to its whole group. It may have ended already.
func send(cmd *exec.Cmd, signal os.Signal, alone bool) {
	number, ok := signal.(syscall.Signal)
	switch {
	case alone || !ok:
		_ = cmd.Process.Signal(signal) //nolint:errcheck // see above
	default:
		_ = syscall.Kill(-cmd.Process.Pid, number) //nolint:errcheck // see above
	}
}
