// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// subject is one way to plan, apply and destroy a fixture.
type subject interface {
	name() string

	// prepare does the work that is done once for a stack (rule B2).
	prepare(ctx context.Context, f *fixture) error

	// run begins without state.
	run(ctx context.Context, f *fixture, parallelism int) (timing, error)
}

// stepCost is the cost of a step.
type stepCost struct {
	elapsed   time.Duration
	processor time.Duration // of all processes, in user and system mode
}

func (c stepCost) plus(other stepCost) stepCost {
	return stepCost{c.elapsed + other.elapsed, c.processor + other.processor}
}

// timing has the costs of the steps of a run. Those that a subject does not do are zero.
type timing struct {
	plan, apply, destroy stepCost

	peak int64 // memory of the largest process, in bytes; 0 where it is not known
}

// command prepares a process that is interrupted when ctx ends.
func command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// timed runs a process to its end. Its standard output is returned only if asked for, because a
// pipe costs time that a file does not.
func timed(cmd *exec.Cmd) (elapsed, processor time.Duration, err error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	err = cmd.Run()
	elapsed = time.Since(start)
	if err != nil {
		return 0, 0, fmt.Errorf("%v: %w\n%s", cmd.Args, err, stderr.Bytes())
	}
	return elapsed, processorTime(cmd.ProcessState), nil
}

// processorTime is that of an ended process and of the processes that it has waited for.
func processorTime(process *os.ProcessState) time.Duration {
	return process.UserTime() + process.SystemTime()
}
