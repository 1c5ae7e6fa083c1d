// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package command runs a terraform or tofu binary for something short that touches no state: init,
// validate, providers schema. Plans and applies are runs of package runner.
package command

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/engine/binary/limiter"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/telemetry"
)

// defaultSilence is how long a command may print nothing: init says nothing while it downloads a
// provider, of which there are some with hundreds of megabytes.
const defaultSilence = 30 * time.Minute

// How many bytes are kept of a command's output.
const (
	answerBytes  = 128 << 20 // of JSON, which is of no use in part; the schema of the aws provider 5.100 is 14 MB
	excerptBytes = 1 << 20   // of messages, at each end
)

// commandName is the arguments of the binary without options.
func commandName(args []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") }), " ")
}

// Binary is a terraform or tofu binary. It is safe for concurrent use while its fields stay as they
// are.
type Binary struct {
	Path    string
	Name    string            // terraform or tofu
	Environ []string          // of its processes
	LogEnv  map[string]string // see [runner.LogEnvironment]
	Limit   *limiter.Limiter  // of processes at the same time
	Log     *slog.Logger
}

// Env returns the environment for a process that does the work of ctx: that of the binary, with
// other variables.
func (b *Binary) Env(ctx context.Context, extra map[string]string) []string {
	all := maps.Clone(b.LogEnv)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, extra)
	return telemetry.Environ(ctx, runner.Environ(b.Environ, all))
}

// Invocation is one command.
type Invocation struct {
	Dir  string            // where it runs; "" for the directory of this program
	Env  map[string]string // as in [Binary.Env]
	Args []string          // after the name of the binary
}

// Run runs a command, and returns its output. Ending ctx interrupts it, and ends its children.
//
// With -json among its arguments, stdout is all that it has printed there; else of much the
// beginning and the end, as of stderr.
//
// Errors: besides those of the process a [*runner.HungError], and that it has printed more JSON
// than anybody could mean.
func (b *Binary) Run(ctx context.Context, cmd Invocation) (stdout, stderr []byte, err error) {
	limit, err := runner.SilenceLimit(b.Environ, defaultSilence)
	if err != nil {
		return nil, nil, err
	}
	release, err := b.Limit.Acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	ctx, silence, stop := runner.EndAfterSilence(ctx, b.Name+" "+commandName(cmd.Args), limit)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := runner.Capture{Head: excerptBytes, Tail: excerptBytes, OnWrite: func(bool) { silence.Heard() }}
	errOut := out
	if slices.Contains(cmd.Args, "-json") {
		out.Head, out.Tail = answerBytes, 0
		out.OnWrite = func(dropped bool) {
			silence.Heard()
			if dropped {
				cancel(fmt.Errorf("%s %s has printed more than %d bytes, and was ended", b.Name, commandName(cmd.Args), answerBytes))
			}
		}
	}
	process := exec.CommandContext(ctx, b.Path, cmd.Args...)
	process.Dir, process.Env = cmd.Dir, b.Env(ctx, cmd.Env)
	process.Stdout, process.Stderr = &out, &errOut
	process.WaitDelay = 10 * time.Second
	if limit > 0 {
		process.WaitDelay = min(process.WaitDelay, limit)
	}
	began := time.Now()
	err = runner.RunShort(ctx, process)
	b.Log.InfoContext(ctx, "engine process ended", "command", commandName(cmd.Args), "duration", time.Since(began), "exit_code",
		process.ProcessState.ExitCode())
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.Bytes(), errOut.Bytes(), err
}
