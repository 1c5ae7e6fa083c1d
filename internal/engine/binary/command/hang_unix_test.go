// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package command

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
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// stubborn begins the script of an engine: it starts something that ignores signals, as providers
// do, and has the pipe open.
const stubborn = `(trap '' INT TERM HUP; : >"$PIPE.ready"; exec sleep 20) 9>"$PIPE" >/dev/null 2>&1 &
`

// stubbornPipe makes the pipe of [stubborn], and names it in the environment of toolchain. A file
// next to it appears when the process is there; gone fails the test if it was not, or still is.
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
		if _, err := os.Stat(ready); err != nil {
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

// waitFor waits until a file exists, or for the end of ctx.
func waitFor(ctx context.Context, path string) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}

// The children of an engine end with it, although it ignores all signals that can be ignored.
func TestChildrenOfHangingCommandAreEnded(t *testing.T) {
	for name, script := range map[string]string{
		"engine that ends": "exec sleep 20", "engine that goes on": "trap '' INT TERM\nsleep 20\nsleep 20", "engine that is killed": "kill -9 $$",
	} {
		for _, args := range [][]string{{"init"}, {"validate", "-json"}, {"providers", "schema", "-json"}} {
			t.Run(args[0]+", "+name, func(t *testing.T) {
				_, gone := stubbornPipe(t)
				wait := "until [ -e \"$PIPE.ready\" ]; do :; done\n"
				if _, _, err := fakeBinary(t, "1s", stubborn+wait+script).Run(t.Context(), Invocation{Args: args}); err == nil {
					t.Error("the command has ended well")
				}
				gone()
			})
		}
	}
}

func TestInterruptEndsChildren(t *testing.T) {
	interrupted := errors.New("interrupted")
	for name, do := range map[string]func(ctx context.Context, b *Binary) error{
		"init": func(ctx context.Context, b *Binary) error {
			_, _, err := b.Run(ctx, Invocation{Args: []string{"init"}})
			return err
		},
		"version": func(ctx context.Context, b *Binary) error {
			_, err := (toolchain.Identifier{Environ: b.Environ}).Identify(ctx, b.Path)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ready, gone := stubbornPipe(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			var interrupting sync.WaitGroup
			interrupting.Go(func() {
				waitFor(ctx, ready)
				cancel(interrupted)
			})
			defer interrupting.Wait()
			defer cancel(nil)
			if err := do(ctx, fakeBinary(t, "10s", stubborn+"exec sleep 20")); !errors.Is(err, interrupted) {
				t.Errorf("got %v, want that it was interrupted", err)
			}
			gone()
		})
	}
}

// A program that ends at once leaves none of the commands running that a terminal's signals do not
// reach.
func TestKillShort(t *testing.T) {
	ready, gone := stubbornPipe(t)
	b := fakeBinary(t, "10s", stubborn+"exec sleep 20")
	ended := make(chan error, 1)
	go func() { // ends with the command
		_, _, err := b.Run(t.Context(), Invocation{Args: []string{"init"}})
		ended <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	if !waitFor(ctx, ready) {
		t.Errorf("%s did not appear", ready)
	}
	runner.KillShort()
	if err := testenv.Receive(t, "the command has ended", ended); err == nil || isHung(err) {
		t.Errorf("got %v, want that it was killed", err)
	}
	gone()
}
