// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfengine

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"time"
)

// command runs the binary for something short that touches no state. Ending ctx interrupts it.
func (e *Engine) command(ctx context.Context, dir string, extra map[string]string, args ...string) (stdout, stderr []byte, err error) {
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, e.binary, args...)
	cmd.Dir, cmd.Env = dir, e.env(extra)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.Bytes(), errOut.Bytes(), err
}
