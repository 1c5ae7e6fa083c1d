// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"context"
	"runtime"
	"testing"
)

// allocated returns how many bytes some work allocates, which does not depend on other work of the
// machine.
func allocated(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Line O-07: the work is in proportion to the edges, not to the ways: twice as many layers have 2.3
// times as many edges, and 24 million times as many ways.
func TestOrderO07WorkIsInProportionToEdges(t *testing.T) {
	reduce := func(count int) uint64 {
		return allocated(func() {
			g, selected := layers(t, count, 70)
			g.Sequence(ByQueue, selected)
			g.Sequence(ByWeight, selected)
			g.Waves(selected)
			if got := len(g.Reduced(selected, true)); got != 70*70 {
				t.Errorf("%d layers: %d edges between the first and the last, want %d", count, got, 70*70)
			}
		})
	}
	four, eight := reduce(4), reduce(8)
	if four > 20<<20 {
		t.Errorf("four layers: %d bytes allocated, want at most a tenth of the 200 MB of line O-07", four)
	}
	if eight > 3*four {
		t.Errorf("eight layers: %d bytes allocated, four layers: %d, want at most three times as much", eight, four)
	}
}

// Line O-08.
func TestOrderO08ManyNodes(t *testing.T) {
	var edges int
	g := mustBuild(t, randomShape(10_000))
	position := make([]int, g.Len())
	for i, n := range g.Sequence(ByQueue, nil) {
		position[n] = i + 1
	}
	for _, edge := range g.Edges() {
		if edges++; position[edge.To] > 0 && position[edge.From] >= position[edge.To] {
			t.Fatalf("%d is not before %d", edge.From, edge.To)
		}
	}
	for n := range g.Len() {
		if g.Node(n).Anchor == (position[n] > 0) {
			t.Fatalf("node %d has position %d", n, position[n])
		}
	}
	if edges < 49_000 { // some of the 50 000 are the same by chance
		t.Errorf("%d edges, want nearly 50 000", edges)
	}
}

// Line O-08: ten times as many nodes and edges take ten times the work, or little more.
func TestOrderO08WorkIsInProportionToNodes(t *testing.T) {
	small, large := mustBuild(t, randomShape(1_000)), mustBuild(t, randomShape(10_000))
	for name, do := range map[string]func(g *Graph){
		"Build":            func(g *Graph) { mustBuild(t, &Builder{nodes: g.nodes, edges: g.edges}) },
		"SequenceByQueue":  func(g *Graph) { g.Sequence(ByQueue, nil) },
		"SequenceByDemand": func(g *Graph) { g.Sequence(ByDemand, nil) },
		"SequenceByWeight": func(g *Graph) { g.Sequence(ByWeight, nil) },
		"Waves":            func(g *Graph) { g.Waves(nil) },
		"Reduced":          func(g *Graph) { g.Reduced(nil, false) },
		"without implied":  func(g *Graph) { g.Reduced(nil, true) },
		"one percent":      func(g *Graph) { g.Reduced(onePercent(g), true) },
	} {
		checkGrowth(t, name, do, small, large)
	}
	run := func(g *Graph) {
		g.Run(context.Background(), RunOptions{Parallel: 10}, func(context.Context, int) error { return nil })
	}
	// Smaller, since it takes long under the race detector; and once before, for the memory that Go
	// keeps of goroutines that have ended.
	small, large = mustBuild(t, randomShape(200)), mustBuild(t, randomShape(2_000))
	run(large)
	checkGrowth(t, "Run", run, small, large)
}

func checkGrowth(t *testing.T, name string, do func(g *Graph), small, large *Graph) {
	t.Helper()
	one, ten := allocated(func() { do(small) }), allocated(func() { do(large) })
	if ten > 15*one {
		t.Errorf("%s: %d bytes allocated for %d nodes, %d for %d, want at most 15 times as much", name, ten, large.Len(), one, small.Len())
	}
}

// Groups that come one after the other join nearly all pairs of nodes. The work of finding the few
// edges that are not implied is in proportion to those.
func TestReducedGroupsTakeWorkInProportionToNodes(t *testing.T) {
	reduce := func(groups int) uint64 {
		const size = 10
		g := mustBuild(t, groupsInARow(groups, size))
		return allocated(func() {
			if got, want := len(g.Reduced(nil, true)), (groups-1)*size*size; got != want {
				t.Errorf("%d groups: %d edges, want %d", groups, got, want)
			}
		})
	}
	few, many := reduce(50), reduce(500)
	if many > 15*few {
		t.Errorf("500 groups: %d bytes allocated, 50 groups: %d, want about ten times as much", many, few)
	}
}
