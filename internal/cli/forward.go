// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cairnstacks/cairn/internal/order/process"
)

// interrupts are what is known of the first one. The zero value is none.
type interrupts struct {
	first os.Signal
	at    time.Time
}

// sameMoment is less than anybody needs to interrupt once more.
const sameMoment = 100 * time.Millisecond

// repeats tells whether a signal is the first one, which programs such as timeout(1) send to this program and then to its group.
func (i interrupts) repeats(signal os.Signal, now time.Time) bool {
	return signal == i.first && now.Sub(i.at) < sameMoment
}

// passedOn is what processes get of a signal. That the terminal is gone would end engines at once, as they don't expect it; they are to save first.
func passedOn(signal os.Signal) os.Signal {
	if signal == syscall.SIGHUP {
		return syscall.SIGTERM
	}
	return signal
}

// forwardInterrupts returns a context that ends with the first interrupt, which is passed on to the processes. The second one
// ends them. That nobody reads the output any more counts as a first one: it would end this program, and all that runs would go on
// without it. The caller must call stop.
func (s *session) forwardInterrupts(ctx context.Context, processes *process.Set, terminal bool) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 3)
	notifyInterrupts(signals)
	signal.Notify(signals, syscall.SIGPIPE)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		var before interrupts
		unread := false
		for {
			var got os.Signal
			select {
			case <-done:
				return
			case got = <-signals:
			}
			switch {
			case got == syscall.SIGPIPE && (unread || before.first != nil): // once for each piece of output
			case got == syscall.SIGPIPE:
				unread = true
				s.note("\nNobody reads the output any more. Nothing more is started; waiting for what is running.\n")
				cancel(errInterrupted)
				processes.Stop(os.Interrupt, false)
			case before.repeats(got, time.Now()):
			case before.first != nil:
				s.note("\nEnding what is still running.\n")
				processes.Kill()
			default:
				before = interrupts{got, time.Now()}
				s.note("\nInterrupted. Nothing more is started; waiting for what is running. Interrupt once more to end it at once.\n")
				cancel(errInterrupted)
				processes.Stop(passedOn(got), terminal && got == os.Interrupt)
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
