// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cairnstacks/cairn/internal/engine/binary/limiter"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeBinary writes a program that does something else than terraform.
func fakeBinary(t *testing.T, limit, script string) *Binary {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the engine is a shell script")
	}
	b := &Binary{
		Path: filepath.Join(t.TempDir(), "terraform"), Name: "terraform", Environ: append(os.Environ(), runner.TimeoutVariable+"="+limit),
		Limit: &limiter.Limiter{}, Log: slog.New(slog.DiscardHandler),
	}
	b.Limit.Raise(1)
	rewrite(t, b, script)
	return b
}

// rewrite has a program of fakeBinary do this.
func rewrite(t *testing.T, b *Binary, script string) {
	t.Helper()
	if err := os.WriteFile(b.Path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// Scripts of an engine that hangs. None of them stays for long after the test.
var hanging = map[string]string{
	"sleep":               "exec sleep 20",
	"ignored signals":     "trap '' INT TERM\nsleep 20\nsleep 20",
	"child with the pipe": "sleep 20 &\nwait",
}

func TestHangingCommandIsEnded(t *testing.T) {
	for name, script := range hanging {
		t.Run(name, func(t *testing.T) {
			b := fakeBinary(t, "200ms", "echo begun\n"+script)
			stdout, _, err := b.Run(t.Context(), Invocation{Args: []string{"init"}})
			hung, ok := errors.AsType[*runner.HungError](err)
			if !ok || hung.Command != "terraform init" || !strings.Contains(hung.Error(), runner.TimeoutVariable) || string(stdout) != "begun\n" {
				t.Errorf("got %q, %v, want that terraform init hung", stdout, err)
			}
		})
	}
}

func TestInterruptEndsHangingCommand(t *testing.T) {
	interrupted := errors.New("interrupted")
	for name, script := range hanging {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, interrupted)
			defer cancel()
			if _, _, err := fakeBinary(t, "1s", script).Run(ctx, Invocation{Args: []string{"validate", "-json"}}); !errors.Is(err, interrupted) {
				t.Errorf("got %v, want that it was interrupted", err)
			}
		})
	}
}

// TestHangingVersion asks an engine that does not even say which it is.
func TestHangingVersion(t *testing.T) {
	for name, script := range hanging {
		t.Run(name, func(t *testing.T) {
			b := fakeBinary(t, "200ms", script)
			if _, err := (toolchain.Identifier{Environ: b.Environ}).Identify(t.Context(), b.Path); !isHung(err) {
				t.Errorf("got %v, want that it hung", err)
			}
			interrupted := errors.New("interrupted")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, interrupted)
			defer cancel()
			if _, err := (toolchain.Identifier{}).Identify(ctx, b.Path); !errors.Is(err, interrupted) {
				t.Errorf("got %v, want that it was interrupted", err)
			}
		})
	}
}

func isHung(err error) bool {
	_, ok := errors.AsType[*runner.HungError](err)
	return ok
}

func TestWrongTimeout(t *testing.T) {
	for _, text := range []string{"5", "-1m", "soon"} {
		if _, _, err := fakeBinary(t, text, "").Run(t.Context(), Invocation{Args: []string{"init"}}); err == nil ||
			!strings.Contains(err.Error(), runner.TimeoutVariable) {
			t.Errorf("%s: got %v, want an error about the variable", text, err)
		}
	}
}

// TestOutputOfInitIsBounded lets the engine print more than is kept.
func TestOutputOfInitIsBounded(t *testing.T) {
	b := fakeBinary(t, "0", "echo first\nhead -c 20000000 /dev/zero\necho last")
	stdout, _, err := b.Run(t.Context(), Invocation{Args: []string{"init"}})
	if said := string(stdout); err != nil || len(said) > 4*excerptBytes || !strings.HasPrefix(said, "first\n") ||
		!strings.HasSuffix(said, "last\n") {
		t.Errorf("got %d bytes, %v, want the beginning and the end", len(stdout), err)
	}
}
