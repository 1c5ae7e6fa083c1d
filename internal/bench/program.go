// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"path/filepath"
	"strconv"
)

// stackPlan is the file for the plan of a stack.
const stackPlan = "stack.cairnplan"

// program plans, applies and destroys with the cairn program, as users do.
type program struct{ title, path, engine string }

func (p *program) name() string { return p.title }

func (p *program) prepare(ctx context.Context, f *fixture) error {
	if f.config == "" {
		return nil
	}
	var t timing
	_, err := p.command(ctx, f, &t, "init")
	return err
}

func (p *program) run(ctx context.Context, f *fixture, parallelism int) (t timing, err error) {
	file := filepath.Join(f.stack, stackPlan)
	limit := "-parallelism=" + strconv.Itoa(parallelism)
	if t.plan, err = p.command(ctx, f, &t, "plan", "-out="+file, limit); err != nil {
		return t, err
	}
	if t.apply, err = p.command(ctx, f, &t, "apply", limit, file); err != nil {
		return t, err
	}
	t.destroy, err = p.command(ctx, f, &t, "destroy", "-auto-approve", limit)
	return t, err
}

// command runs a command in the stack, and notes the memory that it needs.
func (p *program) command(ctx context.Context, f *fixture, t *timing, args ...string) (stepCost, error) {
	cmd := command(ctx, p.path, args...)
	cmd.Dir = f.stack
	cmd.Env = append(f.environ(cmd.Environ()), "CAIRN_ENGINE="+p.engine)
	elapsed, processor, err := timed(cmd)
	if err != nil {
		return stepCost{}, err
	}
	t.peak = max(t.peak, peakMemory(cmd.ProcessState))
	return stepCost{elapsed, processor}, nil
}
