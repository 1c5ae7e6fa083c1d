// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"context"
	"errors"
	"os/exec"
	"sync"
)

// short is the process groups of the commands that [RunShort] runs.
var short struct {
	sync.Mutex
	groups map[int]bool
}

// RunShort runs a command that changes nothing, made with ctx, in a process group of its own. When
// ctx ends, the command is interrupted. Its children are killed, as is the command itself after its
// WaitDelay: providers ignore interrupts, as their engine ends them. Processes that a command
// leaves running after it has ended by itself, as git does, stay.
//
// Errors: those of [exec.Cmd.Run].
func RunShort(ctx context.Context, cmd *exec.Cmd) error {
	cmd.SysProcAttr = ownProcessGroup()
	cmd.Cancel = func() error { return interruptProcess(cmd.Process.Pid) }
	if err := startShort(cmd); err != nil {
		return err
	}
	err := cmd.Wait()
	if ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay) || cmd.ProcessState.ExitCode() < 0 {
		_ = killGroup(cmd.Process.Pid) //nolint:errcheck // it is only tidying up
	}
	short.Lock()
	defer short.Unlock()
	delete(short.groups, cmd.Process.Pid)
	return err
}

func startShort(cmd *exec.Cmd) error {
	short.Lock()
	defer short.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	if short.groups == nil {
		short.groups = map[int]bool{}
	}
	short.groups[cmd.Process.Pid] = true
	return nil
}

// KillShort kills all that [RunShort] runs. It is for a program that ends at once then: signals of
// a terminal do not reach other process groups.
func KillShort() {
	short.Lock()
	defer short.Unlock()
	for pid := range short.groups {
		_ = killGroup(pid) //nolint:errcheck // it may have ended by itself
	}
}
