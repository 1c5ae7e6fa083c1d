// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
)

// defaultSilence is how long a command may print nothing: init says nothing while it downloads a provider, of which there are some with
// hundreds of megabytes.
const defaultSilence = 30 * time.Minute

// How many bytes are kept of what a command prints.
const (
	answerBytes  = 128 << 20 // of JSON, which is of no use in part; the schema of the aws provider 5.100 is 14 MB
	excerptBytes = 1 << 20   // of messages, at each end
)

// commandName is what the binary is asked to do, without options.
func commandName(args []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") }), " ")
}

// command runs the binary for something short that touches no state. Ending ctx interrupts it, and ends what it has started.
//
// Errors: besides those of the process a [*runner.HungError], and that it has printed more JSON than anybody could mean.
func (e *Session) command(ctx context.Context, dir string, extra map[string]string, args ...string) (stdout, stderr []byte, err error) {
	limit, err := runner.SilenceLimit(e.environ, defaultSilence)
	if err != nil {
		return nil, nil, err
	}
	release, err := e.shared.processes.Acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	ctx, silence, stop := runner.EndAfterSilence(ctx, e.info.Name+" "+commandName(args), limit)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := runner.Capture{Head: excerptBytes, Tail: excerptBytes, OnWrite: func(bool) { silence.Heard() }}
	errOut := out
	if slices.Contains(args, "-json") {
		out.Head, out.Tail = answerBytes, 0
		out.OnWrite = func(dropped bool) {
			silence.Heard()
			if dropped {
				cancel(fmt.Errorf("%s %s has printed more than %d bytes, and was ended", e.info.Name, commandName(args), answerBytes))
			}
		}
	}
	cmd := exec.CommandContext(ctx, e.binary, args...)
	cmd.Dir, cmd.Env = dir, e.env(extra)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.WaitDelay = 10 * time.Second
	if limit > 0 {
		cmd.WaitDelay = min(cmd.WaitDelay, limit)
	}
	began := time.Now()
	err = runner.RunShort(ctx, cmd)
	e.log.InfoContext(ctx, "engine process ended", "command", commandName(args), "duration", time.Since(began), "exit_code", cmd.ProcessState.ExitCode())
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.Bytes(), errOut.Bytes(), err
}
