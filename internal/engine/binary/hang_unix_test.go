// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package binary

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// stubborn begins the script of an engine: it starts something that ignores signals, as providers do, and has the pipe open.
const stubborn = `(trap '' INT TERM HUP; : >"$PIPE.ready"; exec sleep 20) 9>"$PIPE" >/dev/null 2>&1 &
`

// stubbornPipe makes the pipe of [stubborn], and names it in the environment of toolchain. A file next to it appears when the process is
// there; gone fails the test if it was not, or still is.
func stubbornPipe(t *testing.T) (ready string, gone func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PIPE", path)
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // which doesn't wait for a writer
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	ready = path + ".ready"
	return ready, func() {
		t.Helper()
		if !exists(ready) {
			t.Error("the engine has started nothing")
		}
		if err := file.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(file); err != nil {
			t.Errorf("what the engine has started is still there: %v", err)
		}
	}
}

// What an engine has started ends with it, although it ignores all signals that can be ignored.
func TestChildrenOfHangingCommandAreEnded(t *testing.T) {
	for name, script := range map[string]string{
		"engine that ends": "exec sleep 20", "engine that goes on": "trap '' INT TERM\nsleep 20\nsleep 20", "engine that is killed": "kill -9 $$",
	} {
		for _, args := range [][]string{{"init"}, {"validate", "-json"}, {"providers", "schema", "-json"}} {
			t.Run(args[0]+", "+name, func(t *testing.T) {
				_, gone := stubbornPipe(t)
				wait := "until [ -e \"$PIPE.ready\" ]; do :; done\n"
				if _, _, err := fakeEngine(t, "1s", stubborn+wait+script).command(t.Context(), "", nil, args...); err == nil {
					t.Error("the command has ended well")
				}
				gone()
			})
		}
	}
}

func TestInterruptEndsChildren(t *testing.T) {
	interrupted := errors.New("interrupted")
	for name, do := range map[string]func(ctx context.Context, e *Session) error{
		"init": func(ctx context.Context, e *Session) error {
			_, _, err := e.command(ctx, "", nil, "init")
			return err
		},
		"version": func(ctx context.Context, e *Session) error {
			if err := os.WriteFile(e.binary, []byte("#!/bin/sh\n"+stubborn+"exec sleep 20\n"), 0o700); err != nil {
				return err
			}
			_, err := New(ctx, Options{Binary: e.binary, WorkDir: t.TempDir(), Environ: append(os.Environ(), runner.TimeoutVariable+"=10s")})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ready, gone := stubbornPipe(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			var interrupting sync.WaitGroup
			interrupting.Go(func() {
				eventually(ctx, func() bool { return exists(ready) })
				cancel(interrupted)
			})
			defer interrupting.Wait()
			defer cancel(nil)
			if err := do(ctx, fakeEngine(t, "10s", stubborn+"exec sleep 20")); !errors.Is(err, interrupted) {
				t.Errorf("got %v, want that it was interrupted", err)
			}
			gone()
		})
	}
}

// A program that ends at once leaves none of the commands running that a terminal's signals do not reach.
func TestKillShort(t *testing.T) {
	ready, gone := stubbornPipe(t)
	e := fakeEngine(t, "10s", stubborn+"exec sleep 20")
	ended := make(chan error, 1)
	go func() { // ends with the command
		_, _, err := e.command(t.Context(), "", nil, "init")
		ended <- err
	}()
	waitFor(t, ready)
	runner.KillShort()
	if err := testenv.Receive(t, "the command has ended", ended); err == nil || isHung(err) {
		t.Errorf("got %v, want that it was killed", err)
	}
	gone()
}
