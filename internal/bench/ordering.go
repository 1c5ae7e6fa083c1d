// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// internalPackages is where the packages are whose benchmarks are run.
const internalPackages = "github.com/cairnstacks/cairn/internal"

const orderingRepeats = 3

// The sizes for which benchmarks show how costs grow.
var (
	graphSizes   = []int{1_000, 10_000, 100_000}
	readingSizes = []int{100, 1_000, 10_000}
)

func (r *report) measureOrdering(ctx context.Context, opts options, dir string) error {
	for _, measure := range []func(ctx context.Context, dir string) error{r.measureLimits, r.measureGraphs, r.measureReading} {
		if err := measure(ctx, dir); err != nil {
			return err
		}
	}
	if opts.cairn == "" {
		return nil
	}
	if err := r.measureListing(ctx, opts, dir); err != nil {
		return err
	}
	return r.measureManyStacks(ctx, opts, dir)
}

// measureLimits measures the two cases for which limits are set.
func (r *report) measureLimits(ctx context.Context, dir string) error {
	measured, err := runBenchmarks(ctx, dir, "order", "^BenchmarkOrderO0[78]$")
	if err != nil {
		return err
	}
	table := newTable("line", "what", "limit", "CPU seconds", "peak heap MB")
	for _, c := range []struct{ line, what, limit, name string }{
		{"O-07", "4 layers of 70 nodes, all edges between them, ends selected", "1 s, 200 MB", "OrderO07"},
		{"O-08", "10 000 nodes, 50 000 edges, by queue", "1 s", "OrderO08/ByQueue"},
		{"O-08", "the same, by demand", "1 s", "OrderO08/ByDemand"},
		{"O-08", "the same, by weight", "1 s", "OrderO08/ByWeight"},
	} {
		row, err := measured.of(c.name)
		if err != nil {
			return err
		}
		table.row(c.line, c.what, c.limit, seconds(row.milliseconds/1e3), fmt.Sprintf("%.0f", row.peakMB))
	}
	r.section("Limits of ordering",
		fmt.Sprintf("`go test ./internal/order -run='^$' -bench=OrderO`, medians of %d runs. Processor time is that of all "+
			"processors together; building the graph is included, showing the order too for O-07.", orderingRepeats), table)
	return nil
}

// measureGraphs measures how operations on graphs grow.
func (r *report) measureGraphs(ctx context.Context, dir string) error {
	measured, err := runBenchmarks(ctx, dir, "order", "^BenchmarkGrowth$/.*/^(random|layered)$")
	if err != nil {
		return err
	}
	table := newTable("operation", "graph", "1 000", "10 000", "100 000", "CPU seconds", "peak heap MB")
	for _, operation := range []string{
		"Build", "SequenceByQueue", "SequenceByDemand", "SequenceByWeight", "Waves", "Reduced", "ReducedTransitive",
		"Explain", "SelectOnePercent", "ReducedOnePercent", "Run", "RunLimited",
	} {
		for _, shape := range []string{"random", "layered"} {
			if err := measured.row(table, []any{operation, shape}, "Growth/"+operation+"/"+shape, graphSizes); err != nil {
				return err
			}
		}
	}
	r.section("Growth of work on graphs",
		fmt.Sprintf("`go test ./internal/order -run='^$' -bench=Growth`. Five edges a node; µs of processor time for each "+
			"node of graphs with 1 000, 10 000 and 100 000 nodes, then all of it and the heap for 100 000. Medians of %d runs. "+
			"Random graphs are as deep as chance makes them, "+
			"layered ones have layers of 100 nodes. Run does nothing for each node, ten at a time; limited, each node is in two of 100 limits.",
			orderingRepeats), table)
	return nil
}

// measureReading measures how reading the formats grows.
func (r *report) measureReading(ctx context.Context, dir string) error {
	table := newTable("reader", "100", "1 000", "10 000", "CPU seconds", "peak heap MB")
	for _, c := range []struct{ what, in, pattern, name string }{
		{"stack directories", "format/terramate", "^BenchmarkLoad$", "Load"},
		{"directories with gates", "format/terrateam", "^BenchmarkLoad$/^patterns$/^1_changed$", "Load/patterns/1_changed"},
		{"the same, all changed", "format/terrateam", "^BenchmarkLoad$/^patterns$/^all_changed$", "Load/patterns/all_changed"},
		{"the same, each named", "format/terrateam", "^BenchmarkLoad$/^names$/^all_changed$", "Load/names/all_changed"},
		{"blocks of a workspace file", "format/cairnfile", "^BenchmarkParse$", "Parse"},
		{"references of such a file by tags, globs, paths, expressions", "format/cairnfile", "^BenchmarkReferences$", "References"},
		{"calls of SLS files, with five requisites each", "states/compile", "^BenchmarkCompile$", "Compile"},
		{"changed stacks that use modules", "gitdiff", "^BenchmarkStacks$", "Stacks"},
	} {
		measured, err := runBenchmarks(ctx, dir, c.in, c.pattern)
		if err != nil {
			return err
		}
		if err := measured.row(table, []any{c.what}, c.name, readingSizes); err != nil {
			return err
		}
	}
	r.section("Growth of readers", fmt.Sprintf("`go test ./internal/... -run='^$' -bench='Load|Parse|References|Compile|Stacks'`. "+
		"µs of processor time for each of 100, 1 000 and 10 000, "+
		"then all of it and the heap for 10 000; with the sequence that comes out. Medians of %d runs.", orderingRepeats), table)
	return nil
}

// cost is the median of the metrics of [testenv.Measure].
type cost struct{ milliseconds, perItem, peakMB float64 }

// costs are by the name of a benchmark, without the prefix that all have.
type costs map[string]cost

// runBenchmarks runs benchmarks of one of the internal packages.
func runBenchmarks(ctx context.Context, dir, in, pattern string) (costs, error) {
	name := strings.ReplaceAll(in, "/", "-") + ".test"
	program := filepath.Join(dir, name)
	progress("ordering: %s %s", in, pattern)
	if output, err := command(ctx, "go", "test", "-c", "-o", program, path.Join(internalPackages, in)).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the benchmarks of %s: %w\n%s", in, err, output)
	}
	cmd := command(ctx, program, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime=100ms", "-test.count="+strconv.Itoa(orderingRepeats))
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("benchmarks %s: %w\n%s", pattern, err, output)
	}
	return parseCosts(output)
}

var processorsSuffix = regexp.MustCompile(`-[0-9]+$`)

func parseCosts(output []byte) (costs, error) {
	values := map[string]map[string][]float64{} // by name and unit
	for line := range bytes.Lines(output) {
		fields := strings.Fields(string(line))
		if len(fields) < 2 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := processorsSuffix.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		if values[name] == nil {
			values[name] = map[string][]float64{}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("unexpected output: %w", err)
			}
			values[name][fields[i+1]] = append(values[name][fields[i+1]], value)
		}
	}
	result := costs{}
	for name, units := range values {
		for _, unit := range []string{"cpu-ms/op", "cpu-ns/item", "peak-heap-MB"} {
			if len(units[unit]) == 0 {
				return nil, fmt.Errorf("benchmark %s has no result in %s", name, unit)
			}
		}
		result[name] = cost{median(units["cpu-ms/op"]), median(units["cpu-ns/item"]), median(units["peak-heap-MB"])}
	}
	return result, nil
}

func (c costs) of(name string) (cost, error) {
	one, ok := c[name]
	if !ok {
		return cost{}, fmt.Errorf("there was no benchmark %s", name)
	}
	return one, nil
}

// row adds a row with the cost of an item for each size, and all of the largest.
func (c costs) row(t *table, cells []any, name string, sizes []int) error {
	var last cost
	for _, size := range sizes {
		one, err := c.of(fmt.Sprintf("%s/%d", name, size))
		if err != nil {
			return err
		}
		cells = append(cells, microseconds(one.perItem/1e3))
		last = one
	}
	t.row(append(cells, seconds(last.milliseconds/1e3), fmt.Sprintf("%.0f", last.peakMB))...)
	return nil
}

func microseconds(value float64) string {
	switch {
	case value < 1:
		return fmt.Sprintf("%.2f", value)
	case value < 10:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.0f", value)
}
