// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// shapes write configurations of n components: independent of each other, each
// using the one before, or in ten layers with each component using three of
// the layer before it.
var shapes = map[string]func(n int) string{
	"wide": func(n int) string {
		return components(n, func(int) []int { return nil })
	},
	"chain": func(n int) string {
		return components(n, func(i int) []int {
			if i == 0 {
				return nil
			}
			return []int{i - 1}
		})
	},
	"layered": func(n int) string {
		layer := n / 10
		return components(n, func(i int) []int {
			if i < layer {
				return nil
			}
			below := i/layer*layer - layer
			return []int{below + i%layer, below + (i+1)%layer, below + (i+7)%layer}
		})
	},
}

func components(n int, uses func(int) []int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "component \"c%d\" {\n  source = \"./mod\"\n  inputs = {\n    in = [", i)
		for _, other := range uses(i) {
			fmt.Fprintf(&b, "component.c%d.out, ", other)
		}
		b.WriteString("]\n  }\n}\n")
	}
	return b.String()
}

// benchModule has one resource that holds the input, and one output.
func benchModule() *memengine.Module {
	return &memengine.Module{
		Variables: memengine.Variables("in"),
		Resources: []memengine.Resource{{
			Name:  "this",
			Input: func(s memengine.Scope) (cty.Value, error) { return cty.StringVal("x"), nil },
		}},
		Outputs: map[string]*engine.Output{"out": {Name: "out"}},
		Values: func(s memengine.Scope) (map[string]cty.Value, error) {
			return map[string]cty.Value{"out": s.Resources["this"].GetAttr("id")}, nil
		},
	}
}

func benchOptions(b *testing.B, shape string, n int) stackruntime.Options {
	b.Helper()
	dir := b.TempDir()
	module := filepath.Join(dir, "mod")
	if err := os.Mkdir(module, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.tfcomponent.hcl"), []byte(shapes[shape](n)), 0o644); err != nil {
		b.Fatal(err)
	}
	config, diags := stackconfig.Load(dir)
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	modules := map[string]*memengine.Module{config.Root.Components["c0"].Source.Dir: benchModule()}
	return stackruntime.Options{
		Config:  config,
		Session: enginetest.Open(b, memengine.New(memengine.Options{Modules: modules}), engine.SessionOptions{}),
	}
}

// perComponent runs f for each shape and size, and reports the time for one component.
func perComponent(b *testing.B, f func(b *testing.B, opts stackruntime.Options)) {
	for _, shape := range []string{"wide", "chain", "layered"} {
		for _, n := range []int{100, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				opts := benchOptions(b, shape, n)
				b.ReportAllocs()
				f(b, opts)
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/component")
			})
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	perComponent(b, func(b *testing.B, opts stackruntime.Options) {
		for b.Loop() {
			if diags := stackruntime.Validate(b.Context(), opts); diags.HasErrors() {
				b.Fatal(describe(diags))
			}
		}
	})
}

func BenchmarkPlan(b *testing.B) {
	perComponent(b, func(b *testing.B, opts stackruntime.Options) {
		for b.Loop() {
			if _, diags := stackruntime.Plan(b.Context(), stackruntime.PlanRequest{Options: opts}); diags.HasErrors() {
				b.Fatal(describe(diags))
			}
		}
	})
}

func BenchmarkApply(b *testing.B) {
	perComponent(b, func(b *testing.B, opts stackruntime.Options) {
		plan, diags := stackruntime.Plan(b.Context(), stackruntime.PlanRequest{Options: opts})
		if diags.HasErrors() {
			b.Fatal(describe(diags))
		}
		for b.Loop() {
			if _, diags := stackruntime.Apply(b.Context(), stackruntime.ApplyRequest{Options: opts, Plan: plan}); diags.HasErrors() {
				b.Fatal(describe(diags))
			}
		}
	})
}
