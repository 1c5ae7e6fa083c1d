// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// shapes of graphs with five edges for each node, but for chains, which have one.
var shapes = []struct {
	name string
	make func(nodes int) *Builder
}{
	{"random", randomShape},
	{"layered", layeredShape},
	{"chain", chainShape},
}

// randomShape has edges between any nodes, and one anchor in ten.
func randomShape(nodes int) *Builder {
	random := rand.New(rand.NewPCG(1, 2))
	b := &Builder{}
	for i := range nodes {
		b.Add(Node{Name: fmt.Sprintf("%08x-%d", random.Uint32(), i), Anchor: random.IntN(10) == 0})
	}
	for range 5 * nodes {
		if from, to := random.IntN(nodes), random.IntN(nodes); from != to {
			b.Edge(Edge{From: min(from, to), To: max(from, to)})
		}
	}
	return b
}

// layeredShape has layers of 100, each node after five of the layer before.
func layeredShape(nodes int) *Builder {
	const width = 100
	random := rand.New(rand.NewPCG(1, 2))
	b := &Builder{}
	for i := range nodes {
		n := b.Add(Node{Name: fmt.Sprintf("%08x-%d", random.Uint32(), i)})
		for range min(i/width, 1) * 5 {
			b.Edge(Edge{From: (n/width-1)*width + random.IntN(width), To: n})
		}
	}
	return b
}

func chainShape(nodes int) *Builder {
	b := &Builder{}
	for i := range nodes {
		if n := b.Add(Node{Name: fmt.Sprintf("%06d", i)}); n > 0 {
			b.Edge(Edge{From: n - 1, To: n})
		}
	}
	return b
}

// groupsInARow has groups with an anchor at the begin and one at the end, each after the group
// before. A node that does not belong to a run passes on its predecessors, so that there is also a
// way from the begin of each group to its end.
func groupsInARow(groups, size int) *Builder {
	b := &Builder{}
	for i := range groups {
		begin, end := b.Add(Node{Name: "begin", Anchor: true}), b.Add(Node{Name: "end", Anchor: true})
		b.Edge(Edge{From: begin, To: end})
		if i > 0 {
			b.Edge(Edge{From: begin - size - 1, To: begin})
		}
		for range size {
			n := b.Add(Node{Name: fmt.Sprintf("%06d", end)})
			b.Edge(Edge{From: begin, To: n})
			b.Edge(Edge{From: n, To: end})
		}
	}
	return b
}

func mustBuild(tb testing.TB, b *Builder) *Graph {
	tb.Helper()
	g, err := b.Build()
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// onePercent selects each hundredth node.
func onePercent(g *Graph) Selection {
	selected := make(Selection, g.Len())
	for n := 0; n < len(selected); n += 100 {
		selected[n] = true
	}
	return selected
}

// BenchmarkOrderO07 makes all views of four layers of 70 nodes with all edges between them, of
// which the first and the last are selected. Line O-07 allows 1 s and 200 MB.
func BenchmarkOrderO07(b *testing.B) {
	testenv.Measure(b, 4*70, func() {
		g, selected := layers(b, 4, 70)
		g.Sequence(ByQueue, selected)
		g.Waves(selected)
		g.Reduced(selected, true)
	})
}

// BenchmarkOrderO08 builds a graph of 10 000 nodes and 50 000 edges and puts it in order. Line O-08
// allows 1 s.
func BenchmarkOrderO08(b *testing.B) {
	const nodes = 10_000
	shape := randomShape(nodes)
	for _, rule := range []struct {
		name string
		rule Rule
	}{{"ByQueue", ByQueue}, {"ByDemand", ByDemand}, {"ByWeight", ByWeight}} {
		b.Run(rule.name, func(b *testing.B) {
			testenv.Measure(b, nodes, func() { mustBuild(b, shape).Sequence(rule.rule, nil) })
		})
	}
}

// BenchmarkGrowth shows how the cost of each operation grows: cpu-ns/item, an item being a node,
// should stay the same, or nearly so.
func BenchmarkGrowth(b *testing.B) {
	operations := []struct {
		name string
		do   func(g *Graph)
	}{
		{"Build", func(g *Graph) { mustBuild(b, &Builder{nodes: g.nodes, edges: g.edges}) }},
		{"SequenceByQueue", func(g *Graph) { g.Sequence(ByQueue, nil) }},
		{"SequenceByDemand", func(g *Graph) { g.Sequence(ByDemand, nil) }},
		{"SequenceByWeight", func(g *Graph) { g.Sequence(ByWeight, nil) }},
		{"Waves", func(g *Graph) { g.Waves(nil) }},
		{"Reduced", func(g *Graph) { g.Reduced(nil, false) }},
		{"ReducedOnePercent", func(g *Graph) { g.Reduced(onePercent(g), false) }},
		{"ReducedTransitive", func(g *Graph) { g.Reduced(nil, true) }},
		{"Explain", func(g *Graph) { g.Explain(ByQueue, 0, g.Len()-1) }},
		{"SelectOnePercent", func(g *Graph) { g.Sequence(ByQueue, onePercent(g)); g.Waves(onePercent(g)) }},
		{"Run", func(g *Graph) {
			g.Run(context.Background(), RunOptions{Parallel: 10}, func(context.Context, int) error { return nil })
		}},
		{"RunLimited", func(g *Graph) {
			limits := make([]Limit, 100)
			for n := range g.Len() {
				limits[n%100].Nodes = append(limits[n%100].Nodes, n)
				limits[n%77].Nodes = append(limits[n%77].Nodes, n)
			}
			g.Run(context.Background(), RunOptions{Parallel: 10, Limits: limits}, func(context.Context, int) error { return nil })
		}},
	}
	for _, op := range operations {
		for _, shape := range shapes {
			for _, nodes := range []int{1_000, 10_000, 100_000} {
				b.Run(fmt.Sprintf("%s/%s/%d", op.name, shape.name, nodes), func(b *testing.B) {
					g := mustBuild(b, shape.make(nodes))
					testenv.Measure(b, nodes, func() { op.do(g) })
				})
			}
		}
	}
}

// BenchmarkReducedGroups leaves out implied edges where nearly every pair of nodes has a way.
func BenchmarkReducedGroups(b *testing.B) {
	for _, nodes := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			const size = 20
			g := mustBuild(b, groupsInARow(nodes/size, size))
			testenv.Measure(b, nodes, func() { g.Reduced(nil, true) })
		})
	}
}

// BenchmarkCycles finds cycles: one of all nodes, and one of half of them with a way out at each.
func BenchmarkCycles(b *testing.B) {
	for _, shape := range []struct {
		name string
		ring func(nodes int) int
	}{
		{"ring", func(nodes int) int { return nodes }},
		{"exits", func(nodes int) int { return nodes / 2 }},
	} {
		for _, nodes := range []int{1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", shape.name, nodes), func(b *testing.B) {
				ring := shape.ring(nodes)
				builder := &Builder{}
				for n := range nodes {
					builder.Add(Node{Name: fmt.Sprintf("%06d", n)})
					if n >= ring {
						builder.Edge(Edge{From: n - ring, To: n})
					}
				}
				for n := range ring {
					builder.Edge(Edge{From: n, To: (n + 1) % ring})
				}
				testenv.Measure(b, nodes, func() {
					var cycles CycleErrors
					if _, err := builder.Build(); !errors.As(err, &cycles) || len(cycles) != 1 || len(cycles[0].Nodes) != ring {
						b.Fatal(err)
					}
				})
			})
		}
	}
}
