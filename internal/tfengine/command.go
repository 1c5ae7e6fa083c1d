// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfengine

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// commandName is what the binary is asked to do, without options.
func commandName(args []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") }), " ")
}

// command runs the binary for something short that touches no state. Ending ctx interrupts it.
func (e *Engine) command(ctx context.Context, dir string, extra map[string]string, args ...string) (stdout, stderr []byte, err error) {
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, e.binary, args...)
	cmd.Dir, cmd.Env = dir, e.env(extra)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	began := time.Now()
	err = cmd.Run()
	e.log.InfoContext(ctx, "engine process ended", "command", commandName(args), "duration", time.Since(began), "exit_code", cmd.ProcessState.ExitCode())
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.Bytes(), errOut.Bytes(), err
}
