// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/process"
)

// interrupts are the signal and the time of the first interrupt. The zero value is none.
type interrupts struct {
	first os.Signal
	at    time.Time
}

// sameMoment is less than anybody needs to interrupt once more.
const sameMoment = 100 * time.Millisecond

// repeats reports whether a signal is the first one, which programs such as timeout(1) send to this
// program and then to its group.
func (i interrupts) repeats(signal os.Signal, now time.Time) bool {
	return signal == i.first && now.Sub(i.at) < sameMoment
}

// passedOn returns the signal that processes get for a signal to this program. The loss of the
// terminal would end engines at once, as they don't expect it; they are to save first.
func passedOn(signal os.Signal) os.Signal {
	switch signal {
	case syscall.SIGHUP:
		return syscall.SIGTERM
	case syscall.SIGPIPE:
		return os.Interrupt
	}
	return signal
}

// ForwardInterrupts returns a context that ends with the first interrupt, which is passed on to the
// processes. The second one ends them. The caller must call stop.
func (s *Session) ForwardInterrupts(ctx context.Context, processes *process.Set, terminal bool) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	unwatch := s.WatchInterrupts(InterruptActions{
		First: func(got os.Signal) {
			cancel(operation.ErrInterrupted)
			processes.Stop(passedOn(got), terminal && got == os.Interrupt)
		},
		Second: processes.Kill,
	})
	return ctx, func() {
		unwatch()
		cancel(context.Canceled)
	}
}

// InterruptAll is ForwardInterrupts for a run that also operates in this process: the first
// interrupt ends processes that change nothing, and this one if nothing was begun that has to come
// to its end, as with [Session.Interruptible]. For work that has to, it waits after the second one,
// and only the third one ends this program. That nobody reads the output any more, which unread
// says, counts as a first one.
func (s *Session) InterruptAll(ctx context.Context, processes *process.Set, inFlight InFlight) (_ context.Context, unread, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	first := func(got os.Signal) {
		cancel(operation.ErrInterrupted)
		s.stopNow()
		processes.Stop(passedOn(got), false)
	}
	unwatch := s.WatchInterrupts(InterruptActions{
		First: first,
		Begun: func() bool { return inFlight.begun() || processes.Busy() },
		Second: func() {
			processes.Kill()
			if lost := inFlight.Lost(); lost != "" {
				s.Note("\nStacks are waited for.\n%s\nInterrupt once more to end at once in spite of that.\n\n", lost)
			}
		},
		Third:       true,
		WritesPipes: true, // operations write to providers
	})
	unread = sync.OnceFunc(func() {
		s.Note(NoteUnread)
		first(syscall.SIGPIPE)
	})
	return ctx, unread, func() {
		unwatch()
		cancel(context.Canceled)
	}
}

// InterruptActions are the effects of interrupts on a run.
type InterruptActions struct {
	First  func(got os.Signal) // starts nothing more; may be called once more
	Second func()              // ends the work that still runs
	Third  bool                // ends this program; otherwise it does the second once more

	// Begun reports whether anything was begun that has to come to its end, or was changed. If not,
	// the first one ends this program if the run does not return soon. Nil stands for a run that
	// always waits.
	Begun func() bool

	// WritesPipes says that the run writes not only to the readers of its output. If nobody reads one
	// of these other pipes, that is not an interrupt; that nobody reads the output any more, the run
	// has to find out itself.
	WritesPipes bool

	// Quiet says that the first two actions tell what happens, in place of the usual notes.
	Quiet bool
}

// note shows a usual note.
func (a *InterruptActions) note(s *Session, text string) {
	if !a.Quiet {
		s.Note("%s", text)
	}
}

const NoteUnread = "\nNobody reads the output any more. Nothing more is started; waiting for running operations.\n"

// WatchInterrupts takes the actions at interrupts until stop is called. That nobody reads the
// output any more counts as a first one: it would end this program, and all that runs would go on
// without it.
func (s *Session) WatchInterrupts(actions InterruptActions) (stop func()) {
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, InterruptSignals()...)
	signal.Notify(signals, syscall.SIGPIPE)
	s.Deps.Guard.enter(operating)
	done, left := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(left)
		var before interrupts
		unread, ended := false, false
		var tooLong <-chan time.Time
		for {
			var got os.Signal
			// No interrupt has come as long as tooLong is nil, from which nothing is ever received.
			select {
			case <-done:
				return
			case <-tooLong:
				tooLong = nil
				if !actions.Begun() {
					s.endUnchanged()
				}
				continue
			case got = <-signals:
			}
			// The system sends SIGPIPE for every write to a pipe without a reader; the first one counts.
			switch {
			case got == syscall.SIGPIPE && (actions.WritesPipes || unread || before.first != nil):
			case got == syscall.SIGPIPE:
				unread = true
				s.Note(NoteUnread)
				actions.First(got)
			case before.repeats(got, time.Now()):
			case ended && actions.Third:
				s.Note("\nEnded at once.\n")
				s.exit(cmdline.ExitError)
			case before.first != nil:
				ended = true
				actions.note(s, "\nEnding running operations.\n")
				actions.Second()
			default:
				before = interrupts{got, time.Now()}
				actions.note(s, "\nInterrupted. Nothing more is started; waiting for running operations. Interrupt once more to end them at once.\n")
				actions.First(got)
				if actions.Begun != nil && !actions.Begun() {
					tooLong = time.After(s.patience())
				}
			}
		}
	}()
	return func() {
		s.Deps.Guard.enter(ending)
		signal.Stop(signals)
		close(done)
		<-left
	}
}
