// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/tempdir"
)

// InterruptSignals are the signals that are to end the current work. The loss of the terminal is
// one, but not below nohup.
func InterruptSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// Guard keeps signals from ending the process before an operation handles them, and after that: a
// program that ends by a signal has not reported its changes, and a sender of the signal takes it
// for one that did not clean up. Its methods do nothing for nil.
type Guard struct {
	signals chan os.Signal

	mu struct {
		sync.Mutex
		phase GuardPhase
	}
}

type GuardPhase int

const (
	Starting  GuardPhase = iota // nothing was begun
	operating                   // who operates handles signals
	ending                      // everything is done and said
)

// GuardSignals guards until the process ends, or until release. A signal before anything was begun
// calls exit, and so does the third one when everything is done, in case the end takes long.
func GuardSignals(exit func(phase GuardPhase)) *Guard {
	g := &Guard{signals: make(chan os.Signal, 3)}
	signal.Notify(g.signals, InterruptSignals()...)
	go func() { // ends with release, or with the process
		late := 0
		for range g.signals {
			g.mu.Lock()
			phase := g.mu.phase
			g.mu.Unlock()
			if phase == ending {
				late++
			}
			if phase == Starting || late == 3 {
				exit(phase)
			}
		}
	}()
	return g
}

func (g *Guard) enter(phase GuardPhase) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.phase = phase
}

// Release gives signals back their usual effect.
func (g *Guard) Release() {
	if g == nil {
		return
	}
	signal.Stop(g.signals) // from then on nothing is sent
	close(g.signals)
}

// InFlight describes the operation of this process.
type InFlight struct {
	Begun func() bool   // whether something was changed, or begun that has to come to its end; nil if the operation changes nothing
	Lost  func() string // the loss if this program ended now; "" if nothing is going on
}

// LooksOnly is in flight where nothing is changed.
var LooksOnly = InFlight{Lost: func() string { return "Nothing will be lost." }}

func (f InFlight) begun() bool { return f.Begun != nil && f.Begun() }

// Interruptible returns a context that ends with the first interrupt, which closes
// [Session.StopNow] as well. If nothing was begun that has to come to its end, that ends the
// process, too, should the operation not return soon: no context reaches the evaluation of an
// expression. Otherwise the second interrupt names the loss, and only the third ends the process at
// once. The caller must call stop.
func (s *Session) Interruptible(ctx context.Context, inFlight InFlight) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, InterruptSignals()...)
	s.Deps.Guard.enter(operating)
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		s.handleInterrupts(signals, done, cancel, inFlight)
	}()
	return ctx, func() {
		s.Deps.Guard.enter(ending)
		signal.Stop(signals)
		close(done)
		<-ended
		cancel(context.Canceled)
	}
}

func (s *Session) handleInterrupts(signals <-chan os.Signal, done <-chan struct{}, cancel context.CancelCauseFunc, inFlight InFlight) {
	var tooLong <-chan time.Time
	for count := 0; ; {
		select {
		case <-done:
			return
		case <-tooLong:
			if !inFlight.begun() {
				s.endUnchanged()
				return
			}
			tooLong = nil
			continue
		case <-signals:
			count++
		}
		switch {
		case count == 1:
			cancel(operation.ErrInterrupted)
			s.stopNow()
			if !inFlight.begun() {
				s.Note("\nInterrupted. Nothing more is begun.\n\n")
				tooLong = time.After(s.patience())
				break
			}
			s.Note("\nInterrupted. Nothing more is begun; waiting for running operations to stop.\n" +
				"Everything that was done is saved.\n\n")
		case !inFlight.begun():
			s.endUnchanged()
			return
		case count == 2:
			s.Note("\nStill waiting. %s\nInterrupt once more to end at once in spite of that.\n\n", inFlight.Lost())
		default:
			s.Note("\nEnded at once.\n")
			s.exit(cmdline.ExitError)
			return
		}
	}
}

// patience is the time for an operation that is interrupted before anything was begun to say so
// itself, and to clean up.
func (s *Session) patience() time.Duration { return cmp.Or(s.Deps.patience, 2*time.Second) }

// endUnchanged ends the process while something goes on that no context reaches.
func (s *Session) endUnchanged() {
	said := make(chan struct{})
	go func() { // ends with the process if nobody reads the message
		defer close(said)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
		defer cancel()
		deployment.UnlockUnchanged(ctx)
		if s.Options.JSON {
			s.Fail(failure.Error("Operation interrupted", "The operation was ended at once. Nothing was changed."))
			return
		}
		s.Note("\nInterrupted, and ended at once. Nothing was changed.\n")
	}()
	select {
	case <-said:
	case <-time.After(time.Second):
	}
	s.exit(cmdline.ExitError)
}

// exit ends the process.
func (s *Session) exit(status int) {
	if live := s.live.Load(); live != nil {
		live.Restore()
	}
	if s.Deps.exit != nil {
		s.Deps.exit(status)
		return
	}
	EndProcess(status)
}

// EndProcess ends this process without unwinding, and with it all that must not outlive it: the
// processes that only look, and files that nobody finds again. Signals of a terminal do not reach
// other process groups.
func EndProcess(status int) {
	runner.KillShort()
	plugin.KillAll()
	tempdir.RemoveOwn()
	os.Exit(status) //nolint:forbidigo // The user asks for this: nothing else ends all that is going on.
}
