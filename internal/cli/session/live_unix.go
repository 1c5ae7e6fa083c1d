// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package session

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/cairnstacks/cairn/internal/views/live"
)

// stoppable takes a display off the screen while this process is stopped, as by Ctrl-Z. The caller
// must call end.
func stoppable(display *live.Display) (end func()) {
	stops, continues, done := make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(stops, syscall.SIGTSTP)
	var handler sync.WaitGroup
	handler.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-stops:
			}
			resume := display.Suspend()
			signal.Notify(continues, syscall.SIGCONT)
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) //nolint:errcheck // a process may stop itself
			select {
			case <-done:
			case <-continues: // it stops some time after the call
			}
			signal.Stop(continues)
			resume()
		}
	})
	return func() {
		signal.Stop(stops)
		close(done)
		handler.Wait()
	}
}
