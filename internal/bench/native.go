// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// nativeSizes are the numbers of components whose costs are compared with each other.
var nativeSizes = []int{100, 300, 1000, 10_000}

// measureNative shows how the cost of the native engine grows with the number of components.
func (r *report) measureNative(ctx context.Context, opts options, dir string) error {
	table := newTable("shape", "components", "plan s", "apply s", "destroy s", "plan, CPU ms", "plan and apply, CPU ms", "destroy, CPU ms",
		"peak MB")
	native := &program{"cairn, native engine", opts.cairn, "native"}
	for _, s := range shapes {
		for _, n := range nativeSizes {
			rounds := opts.rounds
			if n > 1000 {
				rounds = opts.largeRounds
			}
			if rounds < 1 {
				continue
			}
			c := comparison{components: n, shape: s, parallelism: 10, rounds: rounds, module: builtInModule()}
			results, err := c.measure(ctx, []subject{native}, filepath.Join(dir, fmt.Sprintf("native-%s-%d", s, n)))
			if err != nil {
				return fmt.Errorf("%s: %w", c, err)
			}
			addGrowth(table, c, results[0])
		}
	}
	r.section("The native engine, at all sizes", fmt.Sprintf("The same modules. Medians of %d rounds (10 000 components: %d). "+
		"Processor time is that of one component; the peak is that of the largest of the three processes.", opts.rounds, opts.largeRounds), table)
	return r.measureModules(ctx, dir)
}

// measureModules shows how the cost of the native engine grows with the content of one module.
func (r *report) measureModules(ctx context.Context, dir string) error {
	measured, err := runBenchmarks(ctx, dir, "engine/native", "^BenchmarkGrowth$")
	if err != nil {
		return err
	}
	table := newTable("operation", "module", "10", "100", "1 000", "10 000")
	for _, row := range []struct{ operation, title, name string }{
		{"plan", "resources that have nothing to do with each other", "Plan/wide"},
		{"plan", "one resource with `for_each`", "Plan/many"},
		{"plan", "the same, nothing changes", "Plan/unchanged"},
		{"plan", "a chain of resources", "Plan/chain"},
		{"apply", "resources that have nothing to do with each other", "Apply/wide"},
		{"apply", "one resource with `for_each`", "Apply/many"},
		{"apply", "a chain of resources", "Apply/chain"},
	} {
		cells := []any{row.operation, row.title}
		for _, n := range []int{10, 100, 1000, 10_000} {
			one, ok := measured[fmt.Sprintf("Growth/%s/%d", row.name, n)]
			if !ok {
				cells = append(cells, unknownNumber)
				continue
			}
			cells = append(cells, microseconds(one.perItem/1e3))
		}
		table.row(cells...)
	}
	r.section("The native engine, in one module",
		"`go test ./internal/engine/native -run='^$' -bench=Growth`. µs of processor time for each object. "+
			"The cost of applying a chain beyond planning grows with the state, which lists, as terraform's does, all that each object depends on: "+
			"11 MB for 1 000, and 1.2 GB for 10 000.", table)
	return nil
}

func addGrowth(t *table, c comparison, results []timing) {
	middle := func(of func(timing) float64) float64 {
		var values []float64
		for _, result := range results {
			values = append(values, of(result))
		}
		return median(values)
	}
	each := func(of func(timing) stepCost) string {
		return fmt.Sprintf("%.2f", middle(func(t timing) float64 { return of(t).processor.Seconds() * 1000 / float64(c.components) }))
	}
	t.row(c.shape, c.components,
		seconds(middle(func(t timing) float64 { return t.plan.elapsed.Seconds() })),
		seconds(middle(func(t timing) float64 { return t.apply.elapsed.Seconds() })),
		seconds(middle(func(t timing) float64 { return t.destroy.elapsed.Seconds() })),
		each(func(t timing) stepCost { return t.plan }),
		each(func(t timing) stepCost { return t.plan.plus(t.apply) }),
		each(func(t timing) stepCost { return t.destroy }),
		megabytes(int64(middle(func(t timing) float64 { return float64(t.peak) }))))
}
