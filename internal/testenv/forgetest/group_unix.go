// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package forgetest

import (
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(process *os.Process) {
	_ = syscall.Kill(-process.Pid, syscall.SIGKILL) //nolint:errcheck // it has ended by itself
}
