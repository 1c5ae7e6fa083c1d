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
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// interrupting is a session that handles interrupts.
type interrupting struct {
	*Session
	ctx      context.Context //nolint:containedctx // of a test
	signals  chan os.Signal
	exited   chan int
	finished chan struct{}
	messages func() string
}

func handle(t *testing.T, patience time.Duration, inFlight InFlight) *interrupting {
	t.Helper()
	var mu sync.Mutex
	var stderr bytes.Buffer
	i := &interrupting{
		signals: make(chan os.Signal, 2), exited: make(chan int, 1), finished: make(chan struct{}),
		messages: func() string {
			mu.Lock()
			defer mu.Unlock()
			return stderr.String()
		},
	}
	i.Session = New(Streams{Err: writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return stderr.Write(p)
	})}, Dependencies{exit: func(status int) { i.exited <- status }, patience: patience})
	ctx, cancel := context.WithCancelCause(t.Context())
	i.ctx = ctx
	go func() {
		defer close(i.finished)
		i.handleInterrupts(i.signals, make(chan struct{}), cancel, inFlight)
	}()
	return i
}

// exits waits until the process would end.
func (i *interrupting) exits(t *testing.T, why string) {
	t.Helper()
	if status := testenv.Receive(t, why, i.exited); status != cmdline.ExitError {
		t.Errorf("exit code %d, want %d", status, cmdline.ExitError)
	}
	testenv.Receive(t, "interrupts are no longer handled", i.finished)
}

// The first interrupt cancels, and ends an operation that changes nothing, the second one warns,
// the third one ends the process.
func TestInterrupts(t *testing.T) {
	i := handle(t, time.Nanosecond, InFlight{Begun: func() bool { return true }, Lost: func() string { return "This will be lost." }})
	i.signals <- os.Interrupt
	testenv.Receive(t, "the first interrupt cancels", i.ctx.Done())
	if cause := context.Cause(i.ctx); cause != operation.ErrInterrupted {
		t.Errorf("cause: %v", cause)
	}
	testenv.Receive(t, "the first interrupt ends what changes nothing", i.StopNow)
	i.signals <- os.Interrupt
	i.signals <- os.Interrupt
	i.exits(t, "the third interrupt ends the process")
	first, rest, ok := strings.Cut(i.messages(), "This will be lost.")
	if !ok || !strings.Contains(first, "waiting for running operations") || !strings.Contains(rest, "Ended at once.") {
		t.Errorf("messages:\n%s", i.messages())
	}
}

// Where nothing was begun, one interrupt is enough.
func TestInterruptOfWhatChangesNothing(t *testing.T) {
	i := handle(t, time.Nanosecond, LooksOnly)
	i.signals <- os.Interrupt
	i.exits(t, "the first interrupt ends the process")
	if got := i.messages(); !strings.Contains(got, "Nothing was changed.") || strings.Contains(got, "waiting") {
		t.Errorf("messages:\n%s", got)
	}
	i = handle(t, time.Hour, LooksOnly)
	i.signals <- os.Interrupt
	testenv.Receive(t, "the first interrupt cancels", i.ctx.Done())
	if len(i.exited) > 0 {
		t.Error("the process ends before the operation could")
	}
	i.signals <- os.Interrupt
	i.exits(t, "the second interrupt ends the process")
}

// Work begun just before an interrupt is waited for.
func TestInterruptAsSomethingBegins(t *testing.T) {
	asked := make(chan struct{}, 10)
	var begun atomic.Bool
	i := handle(t, time.Nanosecond, InFlight{Begun: func() bool {
		asked <- struct{}{}
		return begun.Swap(true)
	}, Lost: func() string { return "" }})
	i.signals <- os.Interrupt
	testenv.Receive(t, "it is asked whether anything was begun", asked)
	testenv.Receive(t, "it is asked once more", asked)
	i.signals <- os.Interrupt
	i.signals <- os.Interrupt
	i.exits(t, "the third interrupt ends the process")
	if got := i.messages(); strings.Contains(got, "Nothing was changed.") || !strings.Contains(got, "Still waiting.") {
		t.Errorf("messages:\n%s", got)
	}
}

// Before an operation has begun a signal ends the program in good order; while it runs, it is the
// operation's; and when all is done, only the third one ends the program.
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
