// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
)

// comparison is a fixture that all subjects plan, apply and destroy.
type comparison struct {
	components  int
	shape       shape
	parallelism int
	rounds      int
	module      module
}

func (c comparison) String() string {
	return fmt.Sprintf("%s %d, %d at a time", c.shape, c.components, c.parallelism)
}

// measureEngine compares cairn, with each of its engines, with bare processes of terraform or tofu.
func (r *report) measureEngine(ctx context.Context, opts options, dir string) error {
	subjects := []subject{&bare{"bare processes", opts.engine, runner.Environ(os.Environ(), nil)}}
	if opts.cairn != "" {
		subjects = append(subjects, &program{"cairn, native engine", opts.cairn, "native"},
			&program{"cairn, binary engine", opts.cairn, opts.engine})
	}
	table := newTable(comparisonHeads...)
	err := compareAll(ctx, table, subjects,
		[]subject{&library{opts.engine}, &bare{"bare, plain environment", opts.engine, plainEnvironment()}}, opts, dir)
	r.section("Whole runs, and bare processes", fmt.Sprintf(
		"Modules of %d `terraform_data` each. Medians of %d rounds (300 components: %d). "+
			"The last three columns say how many times faster than the bare processes of the same round: "+
			"planning, planning and applying, destroying.",
		resourcesEach, opts.rounds, opts.largeRounds), table)
	return err
}

// compareAll adds the rows of one comparison after the other. Some subjects are compared where the
// stack is small only.
func compareAll(ctx context.Context, table *table, subjects, small []subject, opts options, dir string) error {
	for _, parallelism := range []int{2, 10} {
		c := comparison{components: 50, shape: wide, parallelism: parallelism, rounds: opts.rounds, module: builtInModule()}
		if err := c.addRows(ctx, table, slices.Concat(subjects, small), dir); err != nil {
			return err
		}
	}
	for _, s := range shapes {
		c := comparison{components: 300, shape: s, parallelism: 10, rounds: opts.largeRounds, module: builtInModule()}
		if err := c.addRows(ctx, table, subjects, dir); err != nil {
			return err
		}
	}
	return nil
}

// addRows measures the subjects, the first of which is the one that the others are compared with.
func (c comparison) addRows(ctx context.Context, table *table, subjects []subject, dir string) error {
	if c.rounds < 1 {
		return nil
	}
	results, err := c.measure(ctx, subjects, filepath.Join(dir, strings.NewReplacer(" ", "-", ",", "").Replace(c.String())))
	if err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	for i, subject := range subjects {
		addRow(table, c, subject, results[i], results[0])
	}
	return nil
}

// measure runs each subject once a round, in an order that turns round, and returns the timings by
// subject and round.
func (c comparison) measure(ctx context.Context, subjects []subject, dir string) ([][]timing, error) {
	f, err := newFixture(dir, c.components, c.shape, c.module)
	if err != nil {
		return nil, err
	}
	results := make([][]timing, len(subjects))
	// The first round only warms up caches, and is short.
	warmUp, err := newFixture(filepath.Join(dir, "warm-up"), 2, c.shape, c.module)
	if err != nil {
		return nil, err
	}
	for _, subject := range subjects {
		for _, f := range []*fixture{warmUp, f} {
			if err := subject.prepare(ctx, f); err != nil {
				return nil, fmt.Errorf("%s: %w", subject.name(), err)
			}
		}
		if _, err := subject.run(ctx, warmUp, c.parallelism); err != nil {
			return nil, fmt.Errorf("%s: %w", subject.name(), err)
		}
		if err := warmUp.reset(); err != nil {
			return nil, err
		}
	}
	for round := range c.rounds {
		for i := range subjects {
			if round%2 == 1 {
				i = len(subjects) - 1 - i
			}
			if err := f.reset(); err != nil {
				return nil, err
			}
			t, err := subjects[i].run(ctx, f, c.parallelism)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", subjects[i].name(), err)
			}
			progress("%s: %s: round %d of %d: plan %.2f s, apply %.2f s, destroy %.2f s", c, subjects[i].name(), round+1, c.rounds,
				t.plan.elapsed.Seconds(), t.apply.elapsed.Seconds(), t.destroy.elapsed.Seconds())
			results[i] = append(results[i], t)
		}
	}
	return results, nil
}

var comparisonHeads = []string{"stack", "run by", "plan s", "apply s", "destroy s", "CPU s", "plan ×", "both ×", "destroy ×"}

func addRow(t *table, c comparison, s subject, results, reference []timing) {
	middle := func(of func(timing) time.Duration) string {
		var values []float64
		for _, result := range results {
			values = append(values, of(result).Seconds())
		}
		if median(values) == 0 {
			return unknownNumber
		}
		return seconds(median(values))
	}
	faster := func(of func(timing) time.Duration) string {
		var ratios []float64
		for i, result := range results {
			if of(result) == 0 {
				return unknownNumber
			}
			ratios = append(ratios, of(reference[i]).Seconds()/of(result).Seconds())
		}
		return fmt.Sprintf("%.2f", median(ratios))
	}
	t.row(c, s.name(), middle(planTime), middle(applyTime), middle(destroyTime), middle(processorOf), faster(planTime),
		faster(planAndApplyTime), faster(destroyTime))
}

func planTime(t timing) time.Duration         { return t.plan.elapsed }
func applyTime(t timing) time.Duration        { return t.apply.elapsed }
func destroyTime(t timing) time.Duration      { return t.destroy.elapsed }
func planAndApplyTime(t timing) time.Duration { return t.plan.plus(t.apply).elapsed }

// processorOf is that of planning and applying, which all subjects do.
func processorOf(t timing) time.Duration { return t.plan.plus(t.apply).processor }

// plainEnvironment is that of this program, but the engine looks for no newer version of itself: an
// answer of the network is nothing to measure.
func plainEnvironment() []string { return append(os.Environ(), "CHECKPOINT_DISABLE=1") }
