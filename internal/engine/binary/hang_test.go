// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
)

// fakeEngine writes an engine that does something else for all commands but version, and opens it.
func fakeEngine(t *testing.T, limit, script string) *Session {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the engine is a shell script")
	}
	binary := filepath.Join(t.TempDir(), "terraform")
	script = "#!/bin/sh\n[ \"$1\" = version ] && { echo 'Terraform v1.11.4'; exit; }\n" + script + "\n"
	if err := os.WriteFile(binary, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	e := open(t, t.TempDir(), Options{
		Binary: binary, WorkDir: t.TempDir(), Environ: append(os.Environ(), runner.TimeoutVariable+"="),
	})
	e.environ = append(e.environ, runner.TimeoutVariable+"="+limit)
	return e
}

// What an engine may do that hangs. None of it stays for long after the test.
var hanging = map[string]string{
	"sleep":               "exec sleep 20",
	"ignored signals":     "trap '' INT TERM\nsleep 20\nsleep 20",
	"child with the pipe": "sleep 20 &\nwait",
}

func TestHangingCommandIsEnded(t *testing.T) {
	for name, script := range hanging {
		t.Run(name, func(t *testing.T) {
			e := fakeEngine(t, "200ms", "echo begun\n"+script)
			stdout, _, err := e.command(t.Context(), e.stackDir, nil, "init")
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
			if _, _, err := fakeEngine(t, "1s", script).command(ctx, "", nil, "validate", "-json"); !errors.Is(err, interrupted) {
				t.Errorf("got %v, want that it was interrupted", err)
			}
		})
	}
}

// TestHangingVersion asks an engine that does not even say which it is.
func TestHangingVersion(t *testing.T) {
	for name, script := range hanging {
		t.Run(name, func(t *testing.T) {
			e := fakeEngine(t, "", "")
			if err := os.WriteFile(e.binary, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			opts := Options{Binary: e.binary, WorkDir: t.TempDir(), Environ: append(os.Environ(), runner.TimeoutVariable+"=200ms")}
			if _, err := New(t.Context(), opts); !isHung(err) {
				t.Errorf("got %v, want that it hung", err)
			}
			opts.Environ = nil
			interrupted := errors.New("interrupted")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, interrupted)
			defer cancel()
			if _, err := New(ctx, opts); !errors.Is(err, interrupted) {
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
		if _, _, err := fakeEngine(t, text, "").command(t.Context(), "", nil, "init"); err == nil || !strings.Contains(err.Error(), runner.TimeoutVariable) {
			t.Errorf("%s: got %v, want an error about the variable", text, err)
		}
	}
}

// TestOutputOfInitIsBounded lets the engine print more than is kept.
func TestOutputOfInitIsBounded(t *testing.T) {
	e := fakeEngine(t, "0", "echo first\nhead -c 20000000 /dev/zero\necho last")
	stdout, _, err := e.command(t.Context(), "", nil, "init")
	if said := string(stdout); err != nil || len(said) > 4*excerptBytes || !strings.HasPrefix(said, "first\n") || !strings.HasSuffix(said, "last\n") {
		t.Errorf("got %d bytes, %v, want the beginning and the end", len(stdout), err)
	}
}
