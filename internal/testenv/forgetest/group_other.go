// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package forgetest

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func killGroup(process *os.Process) {
	_ = process.Kill() //nolint:errcheck // it has ended by itself
}
