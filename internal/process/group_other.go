// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package process

import (
	"os"
	"os/exec"
)

// inOwnGroup does nothing here: there are no process groups.
func inOwnGroup(*exec.Cmd) {}

// send sends a signal to a command, which may have ended already. There are no other signals than
// the one that ends it.
func send(cmd *exec.Cmd, signal os.Signal, _ bool) {
	if signal == os.Kill {
		_ = cmd.Process.Kill() //nolint:errcheck // see above
	}
}
