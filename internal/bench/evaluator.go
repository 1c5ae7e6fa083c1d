// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// The cases of the benchmarks in package stackruntime.
var (
	evaluatorOperations = []string{"Validate", "Plan", "Apply"}
	evaluatorShapes     = []string{"wide", "chain", "layered"}
	evaluatorSizes      = []int{100, 1_000, 10_000}
)

const evaluatorRepeats = 3

// measureEvaluator runs the benchmarks with the in-memory engine.
func (r *report) measureEvaluator(ctx context.Context, _ options, dir string) error {
	program := filepath.Join(dir, "evaluator.test")
	build := command(ctx, "go", "test", "-c", "-o", program, "github.com/cairnstacks/cairn/stackruntime")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the benchmarks: %w\n%s", err, output)
	}
	table := newTable("operation", "shape", "components", "seconds", "µs per component", "KB per component", "peak MB")
	for _, operation := range evaluatorOperations {
		for _, shape := range evaluatorShapes {
			for _, size := range evaluatorSizes {
				progress("evaluator: %s %s %d", operation, shape, size)
				measured, err := runBenchmark(ctx, program, dir, fmt.Sprintf("^Benchmark%s$/^%s$/^%d$", operation, shape, size))
				if err != nil {
					return err
				}
				table.row(strings.ToLower(operation), shape, size, seconds(measured.nanoseconds/1e9),
					fmt.Sprintf("%.0f", measured.nanoseconds/1e3/float64(size)),
					fmt.Sprintf("%.0f", measured.bytes/1e3/float64(size)),
					megabytes(measured.peak))
			}
		}
	}
	r.section("The evaluator, with the in-memory engine",
		fmt.Sprintf("Medians of %d runs. Seconds and KB allocated are those of one operation; the peak is that of the whole process, "+
			"which has also read the configuration.", evaluatorRepeats), table)
	return nil
}

// benchmarkResult is the median of the results of a benchmark.
type benchmarkResult struct {
	nanoseconds float64
	bytes       float64 // allocated
	peak        int64   // of the process, in bytes
}

func runBenchmark(ctx context.Context, program, dir, pattern string) (benchmarkResult, error) {
	cmd := command(ctx, program, "-test.run=^$", "-test.bench="+pattern, "-test.benchmem",
		"-test.benchtime=200ms", "-test.count="+strconv.Itoa(evaluatorRepeats))
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	if err != nil {
		return benchmarkResult{}, fmt.Errorf("benchmark %s: %w\n%s", pattern, err, output)
	}
	nanoseconds, err := metric(output, "ns/op")
	if err != nil {
		return benchmarkResult{}, fmt.Errorf("benchmark %s: %w", pattern, err)
	}
	allocated, err := metric(output, "B/op")
	if err != nil {
		return benchmarkResult{}, fmt.Errorf("benchmark %s: %w", pattern, err)
	}
	return benchmarkResult{median(nanoseconds), median(allocated), peakMemory(cmd.ProcessState)}, nil
}

// metric returns the values with a unit in the output of a benchmark, of which there must be one
// for each repeat.
func metric(output []byte, unit string) ([]float64, error) {
	var values []float64
	for line := range bytes.Lines(output) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		for i, field := range fields {
			if field != unit || i == 0 {
				continue
			}
			value, err := strconv.ParseFloat(fields[i-1], 64)
			if err != nil {
				return nil, fmt.Errorf("unexpected output: %w", err)
			}
			values = append(values, value)
		}
	}
	if len(values) != evaluatorRepeats {
		return nil, fmt.Errorf("%d results in %s, want %d:\n%s", len(values), unit, evaluatorRepeats, output)
	}
	return values, nil
}
