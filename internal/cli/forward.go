// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/cairnstacks/cairn/internal/order/process"
)

// forwardInterrupts returns a context that ends with the first interrupt, which is passed on to the processes. The second one
// ends them. The caller must call stop.
func (s *session) forwardInterrupts(ctx context.Context, processes *process.Set, terminal bool) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		for count := 1; ; count++ {
			select {
			case <-done:
				return
			case got := <-signals:
				if count > 1 {
					s.note("\nEnding what is still running.\n")
					processes.Kill()
					continue
				}
				s.note("\nInterrupted. Nothing more is started; waiting for what is running. Interrupt once more to end it at once.\n")
				cancel(errInterrupted)
				processes.Stop(got, terminal && got == os.Interrupt)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		<-ended
		cancel(context.Canceled)
	}
}
