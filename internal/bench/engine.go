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

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
)

// comparison is a fixture that all subjects plan and apply.
type comparison struct {
	components  int
	chain       bool
	parallelism int
	rounds      int
}

func (c comparison) String() string {
	shape := "wide"
	if c.chain {
		shape = "chain"
	}
	return fmt.Sprintf("%s %d, %d at a time", shape, c.components, c.parallelism)
}

// measureEngine compares cairn with bare processes of the engine.
func (r *report) measureEngine(ctx context.Context, opts options, dir string) error {
	reference := &bare{"bare processes", opts.engine, runner.Environ(os.Environ(), nil)}
	subjects := []subject{
		reference,
		&library{opts.engine},
		&bare{"bare, plain environment", opts.engine, plainEnvironment()},
	}
	if opts.cairn != "" {
		subjects = slices.Insert(subjects, 2, subject(&program{opts.cairn, opts.engine}))
	}
	table := newTable("stack", "run by", "plan s", "apply s", "total s", "CPU s", "ratio", "CPU ratio")
	err := compareAll(ctx, table, subjects, opts, dir)
	r.section("Whole runs, with the engine's processes", fmt.Sprintf(
		"Modules of %d `terraform_data` each. Medians of %d rounds (300 components: %d); a ratio is the median of the ratios to the bare processes of the same round.",
		resourcesEach, opts.rounds, opts.largeRounds), table)
	return err
}

// compareAll adds the rows of one comparison after the other.
func compareAll(ctx context.Context, table *table, subjects []subject, opts options, dir string) error {
	for _, c := range []comparison{
		{components: 50, parallelism: 2, rounds: opts.rounds},
		{components: 50, parallelism: 10, rounds: opts.rounds},
		{components: 300, parallelism: 10, rounds: opts.largeRounds},
		{components: 300, chain: true, parallelism: 10, rounds: opts.largeRounds},
	} {
		if c.rounds < 1 {
			continue
		}
		results, err := c.measure(ctx, subjects, filepath.Join(dir, strings.NewReplacer(" ", "-", ",", "").Replace(c.String())))
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		for i, subject := range subjects {
			addRow(table, c, subject, results[i], results[0])
		}
	}
	return nil
}

// measure runs each subject once a round, in an order that turns round, and returns the timings by subject and round.
func (c comparison) measure(ctx context.Context, subjects []subject, dir string) ([][]timing, error) {
	f, err := newFixture(dir, c.components, c.chain)
	if err != nil {
		return nil, err
	}
	results := make([][]timing, len(subjects))
	// The first round only warms up caches, and is short.
	warmUp, err := newFixture(filepath.Join(dir, "warm-up"), 2, c.chain)
	if err != nil {
		return nil, err
	}
	for _, subject := range subjects {
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
			progress("%s: %s: round %d of %d: plan %.2f s, apply %.2f s", c, subjects[i].name(), round+1, c.rounds, t.plan.Seconds(), t.apply.Seconds())
			results[i] = append(results[i], t)
		}
	}
	return results, nil
}

func addRow(t *table, c comparison, s subject, results, reference []timing) {
	var plan, apply, total, processor, ratio, processorRatio []float64
	for i, result := range results {
		plan = append(plan, result.plan.Seconds())
		apply = append(apply, result.apply.Seconds())
		total = append(total, result.total())
		processor = append(processor, result.processor.Seconds())
		ratio = append(ratio, result.total()/reference[i].total())
		processorRatio = append(processorRatio, result.processor.Seconds()/reference[i].processor.Seconds())
	}
	t.row(c, s.name(), seconds(median(plan)), seconds(median(apply)), seconds(median(total)), seconds(median(processor)),
		fmt.Sprintf("%.2f", median(ratio)), fmt.Sprintf("%.2f", median(processorRatio)))
}

// plainEnvironment is that of this program, but the engine looks for no newer version of itself: an answer of the
// network is nothing to measure.
func plainEnvironment() []string { return append(os.Environ(), "CHECKPOINT_DISABLE=1") }
