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

// program plans and applies with the cairn program, as users do.
type program struct{ path, engine string }

func (p *program) name() string { return "cairn plan, cairn apply" }

func (p *program) run(ctx context.Context, f *fixture, parallelism int) (timing, error) {
	var t timing
	file := filepath.Join(f.stack, stackPlan)
	run := func(args ...string) (err error) {
		cmd := command(ctx, p.path, append(args, "-parallelism="+strconv.Itoa(parallelism))...)
		cmd.Dir = f.stack
		cmd.Env = append(cmd.Environ(), "CAIRN_ENGINE="+p.engine)
		elapsed, processor, err := timed(cmd)
		t.processor += processor
		if args[0] == "plan" {
			t.plan = elapsed
		} else {
			t.apply = elapsed
		}
		return err
	}
	if err := run("plan", "-out="+file); err != nil {
		return t, err
	}
	return t, run("apply", file)
}
