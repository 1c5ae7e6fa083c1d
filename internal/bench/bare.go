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

// bare runs one process to plan each unit, one to apply it and one to destroy it, and nothing else.
type bare struct {
	title  string
	binary string
	env    []string
}

func (b *bare) name() string { return b.title }

// prepare installs the providers of the units.
func (b *bare) prepare(ctx context.Context, f *fixture) error {
	if f.config == "" {
		return nil
	}
	return forEach(len(f.units), 2, func(i int) error {
		_, err := b.process(ctx, f, i, "init", "-input=false")
		return err
	})
}

// run does one layer after the other: it applies units before another layer that needs their
// outputs can be planned.
func (b *bare) run(ctx context.Context, f *fixture, parallelism int) (t timing, err error) {
	outputs := make([]string, len(f.units))
	for begin := 0; begin < len(f.units); begin += f.shape.width(len(f.units)) {
		layer := f.units[begin:min(begin+f.shape.width(len(f.units)), len(f.units))]
		for _, step := range []struct {
			cost *stepCost
			do   func(i int) (time.Duration, error)
		}{
			{&t.plan, func(i int) (time.Duration, error) { return b.plan(ctx, f, i, outputs) }},
			{&t.apply, func(i int) (time.Duration, error) {
				processor, err := b.process(ctx, f, i, "apply", "-input=false", unitPlan)
				if err == nil && f.shape != wide {
					outputs[i], err = output(f.units[i])
				}
				return processor, err
			}},
		} {
			if err := measureUnits(step.cost, begin, len(layer), parallelism, step.do); err != nil {
				return t, err
			}
		}
	}
	if err := b.count(f); err != nil {
		return t, err
	}
	width := f.shape.width(len(f.units))
	for begin := (len(f.units) - 1) / width * width; begin >= 0; begin -= width {
		n := min(width, len(f.units)-begin)
		err := measureUnits(&t.destroy, begin, n, parallelism, func(i int) (time.Duration, error) {
			return b.process(ctx, f, i, "destroy", "-input=false", "-auto-approve", "-var=in=")
		})
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// measureUnits does something for n units, some at the same time, and adds its cost.
func measureUnits(c *stepCost, begin, n, parallelism int, do func(i int) (processor time.Duration, err error)) error {
	var processor atomic.Int64
	start := time.Now()
	err := forEach(n, parallelism, func(i int) error {
		used, err := do(begin + i)
		processor.Add(int64(used))
		return err
	})
	c.elapsed += time.Since(start)
	c.processor += time.Duration(processor.Load())
	return err
}

func (b *bare) plan(ctx context.Context, f *fixture, i int, outputs []string) (processor time.Duration, err error) {
	var used []string
	for _, k := range f.shape.uses(i, len(f.units)) {
		used = append(used, outputs[k])
	}
	return b.process(ctx, f, i, "plan", "-input=false", "-out="+unitPlan, "-var=in="+unitInput(i, used...))
}

func (b *bare) process(ctx context.Context, f *fixture, i int, args ...string) (processor time.Duration, err error) {
	cmd := command(ctx, b.binary, args...)
	cmd.Dir, cmd.Env = f.units[i], f.environ(b.env)
	_, processor, err = timed(cmd)
	return processor, err
}

// count fails unless all resources are in the states (rule B3).
func (b *bare) count(f *fixture) error {
	for _, unit := range f.units {
		data, err := os.ReadFile(filepath.Join(unit, stateFile))
		if err != nil {
			return err
		}
		var state struct{ Resources []struct{ Mode string } }
		if err := json.Unmarshal(data, &state); err != nil {
			return fmt.Errorf("state of %s: %w", unit, err)
		}
		if len(state.Resources) != f.resources {
			return fmt.Errorf("state of %s has %d resources, want %d", unit, len(state.Resources), f.resources)
		}
	}
	return nil
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
