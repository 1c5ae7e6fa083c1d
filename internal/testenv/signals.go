// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv

import (
	"os"
	"os/signal"
	"syscall"
)

// ResetSignals lets the processes that tests start be ended by signals which the test program
// itself was started to ignore, as below nohup or in the background of a shell. Programs inherit
// ignored signals, but not handlers. It belongs into TestMain.
func ResetSignals() {
	for _, ignorable := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(ignorable) {
			signal.Notify(make(chan os.Signal, 1), ignorable) // which nobody reads: this program goes on ignoring it
		}
	}
}
