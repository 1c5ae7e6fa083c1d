// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// The first interrupt cancels, the second one warns, the third one ends the process.
func TestInterrupts(t *testing.T) {
	var mu sync.Mutex
	var stderr bytes.Buffer
	exited := make(chan int, 1)
	s := New(Streams{Err: writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return stderr.Write(p)
	})}, Dependencies{exit: func(status int) { exited <- status }})

	ctx, cancel := context.WithCancelCause(t.Context())
	signals := make(chan os.Signal, 2)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		s.handleInterrupts(signals, make(chan struct{}), cancel, func() string { return "This will be lost." })
	}()
	signals <- os.Interrupt
	testenv.Receive(t, "the first interrupt cancels", ctx.Done())
	if cause := context.Cause(ctx); cause != operation.ErrInterrupted {
		t.Errorf("cause: %v", cause)
	}
	select {
	case <-s.StopNow:
		t.Error("the first interrupt tells to stop now")
	default:
	}
	signals <- os.Interrupt
	testenv.Receive(t, "the second interrupt tells to stop now", s.StopNow)
	signals <- os.Interrupt
	if status := testenv.Receive(t, "the third interrupt ends the process", exited); status != cmdline.ExitError {
		t.Errorf("exit code %d, want %d", status, cmdline.ExitError)
	}
	testenv.Receive(t, "interrupts are no longer handled", finished)
	mu.Lock()
	defer mu.Unlock()
	first, rest, ok := strings.Cut(stderr.String(), "This will be lost.")
	if !ok || !strings.Contains(first, "Interrupted.") || !strings.Contains(rest, "Ended at once.") {
		t.Errorf("messages:\n%s", stderr.String())
	}
}

// Before an operation has begun a signal ends the program in good order; while it runs, it is the operation's; and when all is done, only the
// third one ends the program.
func TestSignalGuard(t *testing.T) {
	exits := make(chan GuardPhase, 10)
	guard := GuardSignals(func(phase GuardPhase) { exits <- phase })
	guard.signals <- os.Interrupt
	if phase := testenv.Receive(t, "the first signal ends the process", exits); phase != Starting {
		t.Errorf("exit in phase %d, want %d", phase, Starting)
	}
	for _, phase := range []GuardPhase{operating, ending} {
		guard.enter(phase)
		for range 4 {
			guard.signals <- os.Interrupt
		}
		testenv.Within(t, "the guard has taken all signals", func() {
			for len(guard.signals) > 0 {
				runtime.Gosched()
			}
		})
	}
	if phase := testenv.Receive(t, "the third signal ends the process", exits); phase != ending {
		t.Errorf("exit in phase %d, want %d", phase, ending)
	}
	guard.Release()
	if len(exits) > 0 {
		t.Errorf("%d exits too many", len(exits))
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
