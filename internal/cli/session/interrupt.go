// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/providers/plugin"
)

// InterruptSignals are the signals that are to end what is going on. That the terminal is gone is one, but not below nohup.
func InterruptSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// Guard keeps signals from ending the process before an operation handles them, and after that: a program that ends by a signal has not
// said what it has done, and whoever has sent the signal takes it for one that did not clean up. Its methods do nothing for nil.
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

// GuardSignals guards until the process ends, or until release. A signal before anything was begun calls exit, and so does the third one
// when everything is done, in case the end takes long.
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

// Release lets signals do what they do to any program.
func (g *Guard) Release() {
	if g == nil {
		return
	}
	signal.Stop(g.signals) // from then on nothing is sent
	close(g.signals)
}

// Interruptible returns a context that ends with the first interrupt. The second one closes [Session.StopNow] and says what would be lost, and
// only the third ends the process at once. The caller must call stop.
func (s *Session) Interruptible(ctx context.Context, lost func() string) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, InterruptSignals()...)
	s.Deps.Guard.enter(operating)
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		s.handleInterrupts(signals, done, cancel, lost)
	}()
	return ctx, func() {
		s.Deps.Guard.enter(ending)
		signal.Stop(signals)
		close(done)
		<-ended
		cancel(context.Canceled)
	}
}

func (s *Session) handleInterrupts(signals <-chan os.Signal, done <-chan struct{}, cancel context.CancelCauseFunc, lost func() string) {
	for count := 1; ; count++ {
		select {
		case <-done:
			return
		case <-signals:
		}
		switch count {
		case 1:
			cancel(operation.ErrInterrupted)
			s.Note("\nInterrupted. Nothing more is begun; waiting for what is running to stop.\n" +
				"Everything that was done is saved.\n\n")
		case 2:
			s.stopNow()
			s.Note("\nStill waiting. %s\nInterrupt once more to end at once in spite of that.\n\n", lost())
		default:
			s.Note("\nEnded at once.\n")
			s.exit(cmdline.ExitError)
			return
		}
	}
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
	plugin.KillAll()
	os.Exit(status) //nolint:forbidigo // The user asks for this: nothing else ends all that is going on.
}
