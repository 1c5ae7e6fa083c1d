// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// bare runs one plan and one apply process for each unit, and nothing else.
type bare struct {
	title  string
	binary string
	env    []string
}

func (b *bare) name() string { return b.title }

func (b *bare) run(ctx context.Context, f *fixture, parallelism int) (timing, error) {
	if f.chain {
		return b.runChain(ctx, f)
	}
	return b.runWide(ctx, f, parallelism)
}

func (b *bare) runWide(ctx context.Context, f *fixture, parallelism int) (timing, error) {
	var t timing
	var processor atomic.Int64
	each := func(do func(i int) (elapsed, processor time.Duration, err error)) (time.Duration, error) {
		start := time.Now()
		err := forEach(len(f.units), parallelism, func(i int) error {
			_, used, err := do(i)
			processor.Add(int64(used))
			return err
		})
		return time.Since(start), err
	}
	var err error
	if t.plan, err = each(func(i int) (time.Duration, time.Duration, error) { return b.plan(ctx, f.units[i], unitInput(i)) }); err != nil {
		return t, err
	}
	if t.apply, err = each(func(i int) (time.Duration, time.Duration, error) { return b.apply(ctx, f.units[i]) }); err != nil {
		return t, err
	}
	t.processor = time.Duration(processor.Load())
	return t, nil
}

// runChain applies each unit before it plans the next, which needs its output.
func (b *bare) runChain(ctx context.Context, f *fixture) (timing, error) {
	var t timing
	input := unitInput(0)
	for _, unit := range f.units {
		elapsed, processor, err := b.plan(ctx, unit, input)
		if err != nil {
			return t, err
		}
		t.plan += elapsed
		t.processor += processor
		if elapsed, processor, err = b.apply(ctx, unit); err != nil {
			return t, err
		}
		t.apply += elapsed
		t.processor += processor
		if input, err = output(unit); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (b *bare) plan(ctx context.Context, unit, input string) (elapsed, processor time.Duration, err error) {
	return b.process(ctx, unit, "plan", "-input=false", "-out="+unitPlan, "-var=in="+input)
}

func (b *bare) apply(ctx context.Context, unit string) (elapsed, processor time.Duration, err error) {
	return b.process(ctx, unit, "apply", "-input=false", unitPlan)
}

func (b *bare) process(ctx context.Context, unit string, args ...string) (elapsed, processor time.Duration, err error) {
	cmd := command(ctx, b.binary, args...)
	cmd.Dir, cmd.Env = unit, b.env
	return timed(cmd)
}

// output reads the output of a unit from its state.
func output(unit string) (string, error) {
	data, err := os.ReadFile(filepath.Join(unit, stateFile))
	if err != nil {
		return "", err
	}
	var state struct {
		Outputs struct {
			Out struct{ Value string }
		}
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return "", fmt.Errorf("state of %s: %w", unit, err)
	}
	return state.Outputs.Out.Value, nil
}

// forEach calls do for 0 to n-1, some at the same time. After an error no further call is begun.
func forEach(n, parallelism int, do func(i int) error) error {
	var next atomic.Int64
	var failed atomic.Bool
	errs := make([]error, n)
	var workers sync.WaitGroup
	for range min(n, parallelism) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !failed.Load(); i = int(next.Add(1)) - 1 {
				if errs[i] = do(i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}
