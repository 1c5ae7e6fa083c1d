// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package testenv

import "syscall"

// OwnProcessGroup returns the attributes of a process that a Ctrl-C for the test does not reach.
func OwnProcessGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
