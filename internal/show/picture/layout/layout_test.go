// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package layout

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// columns puts nodes into columns as waves do: each as far left as its edges let it.
func columns(nodes int, edges []Edge) [][]int {
	column := make([]int, nodes)
	for n := range nodes { // edges lead to higher numbers
		for _, e := range edges {
			if e.To == n {
				column[n] = max(column[n], column[e.From]+1)
			}
		}
	}
	all := make([][]int, 0)
	for n, c := range column {
		for len(all) <= c {
			all = append(all, nil)
		}
		all[c] = append(all[c], n)
	}
	return all
}

// random makes a graph with groups in groups.
func random(seed uint64, nodes int) Graph {
	r := rand.New(rand.NewPCG(seed, 0))
	g := Graph{}
	for n := range nodes {
		g.Widths = append(g.Widths, 20+r.IntN(100))
		for range r.IntN(4) {
			if n > 0 {
				g.Edges = append(g.Edges, Edge{r.IntN(n), n})
			}
		}
	}
	g.Columns = columns(nodes, g.Edges)
	for first := 0; first < nodes; {
		size := 1 + r.IntN(8)
		var outer []int
		for n := first; n < min(first+size, nodes); n++ {
			outer = append(outer, n)
		}
		first += size + r.IntN(4)
		g.Groups = append(g.Groups, outer[len(outer)/2:], outer, nil)
	}
	return g
}

func overlap(a, b Rect) bool {
	return a.X < b.Right() && b.X < a.Right() && a.Y < b.Bottom() && b.Y < a.Bottom()
}

func holds(a, b Rect) bool {
	return a.X <= b.X && a.Y <= b.Y && a.Right() >= b.Right() && a.Bottom() >= b.Bottom()
}

// check checks the properties that each drawing must have.
func check(t *testing.T, g Graph, d *Drawing) {
	t.Helper()
	paper := Rect{0, 0, d.Width, d.Height}
	for i, a := range d.Nodes {
		if !holds(paper, a) || a.Width < g.Widths[i] {
			t.Errorf("node %d is at %v, on a paper of %v; it is %d wide", i, a, paper, g.Widths[i])
		}
		for j, b := range d.Nodes[:i] {
			if overlap(a, b) {
				t.Errorf("nodes %d and %d overlap: %v and %v", i, j, a, b)
			}
		}
		for k, group := range g.Groups {
			if len(group) == 0 {
				continue
			}
			switch in := slices.Contains(group, i); {
			case in && !holds(d.Groups[k], a):
				t.Errorf("node %d at %v is not in its group %d at %v", i, a, k, d.Groups[k])
			case !in && overlap(d.Groups[k], a):
				t.Errorf("node %d at %v is in the group %d at %v of others", i, a, k, d.Groups[k])
			}
		}
	}
	for e, edge := range g.Edges {
		from, to, lane := d.Nodes[edge.From], d.Nodes[edge.To], d.Lanes[e]
		if from.Right() >= to.X {
			t.Errorf("edge %v leads to the left: %v to %v", edge, from, to)
		}
		if lane == (Lane{}) {
			continue
		}
		if lane.From <= from.Right() || lane.To >= to.X || lane.From > lane.To {
			t.Errorf("the lane %v of edge %v is not between %v and %v", lane, edge, from, to)
		}
		for n, node := range d.Nodes {
			if overlap(Rect{lane.From, lane.Y, lane.To - lane.From, 1}, node) {
				t.Errorf("the lane %v of edge %v crosses node %d at %v", lane, edge, n, node)
			}
		}
	}
	for k, group := range g.Groups {
		if len(group) > 0 && !holds(paper, d.Groups[k]) {
			t.Errorf("group %d at %v leaves the paper of %v", k, d.Groups[k], paper)
		}
	}
}

func TestRandomGraphs(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := random(seed, int(seed))
			d := New(g)
			check(t, g, d)
			if diff := cmp.Diff(d, New(g)); diff != "" {
				t.Errorf("the second drawing differs from the first:\n%s", diff)
			}
		})
	}
}

// A chain is a straight line, and a common neighbour of two nodes is in the middle between them.
func TestStraightLines(t *testing.T) {
	chain := Graph{Columns: [][]int{{0}, {1}, {2}, {3}}, Widths: []int{10, 20, 30, 40}, Edges: []Edge{{0, 1}, {1, 2}, {2, 3}}}
	d := New(chain)
	for n, node := range d.Nodes {
		if node.Middle() != d.Nodes[0].Middle() {
			t.Errorf("node %d of a chain is at %v, the first at %v", n, node, d.Nodes[0])
		}
	}
	diamond := Graph{Columns: [][]int{{0}, {1, 2}, {3}}, Widths: make([]int, 4), Edges: []Edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}}}
	d = New(diamond)
	middle := (d.Nodes[1].Middle() + d.Nodes[2].Middle()) / 2
	for _, n := range []int{0, 3} {
		if got := d.Nodes[n].Middle(); got < middle-1 || got > middle+1 {
			t.Errorf("node %d of a diamond is at %d, want %d", n, got, middle)
		}
	}
}

// Edges that need not cross do not: in each column the nodes are in the order of their
// predecessors.
func TestCrossings(t *testing.T) {
	g := Graph{Widths: make([]int, 20), Columns: make([][]int, 2)}
	for i := range 10 {
		g.Columns[0] = append(g.Columns[0], i)
		g.Columns[1] = append(g.Columns[1], 10+i)
		g.Edges = append(g.Edges, Edge{i, 10 + (i*7)%10})
	}
	d := New(g)
	for _, a := range g.Edges {
		for _, b := range g.Edges {
			if (d.Nodes[a.From].Y < d.Nodes[b.From].Y) != (d.Nodes[a.To].Y < d.Nodes[b.To].Y) {
				t.Errorf("edges %v and %v cross", a, b)
			}
		}
	}
}

func TestEmptyGraph(t *testing.T) {
	if d := New(Graph{}); d.Width != 0 || d.Height != 0 {
		t.Errorf("an empty drawing has the size %d x %d", d.Width, d.Height)
	}
}

// layered makes a graph of layers, with edges between a node and the first few of its neighbours in
// the next layer.
func layered(layers, width, edges int) Graph {
	g := Graph{Widths: make([]int, layers*width)}
	for l := range layers {
		var column []int
		for i := range width {
			column = append(column, l*width+i)
			for k := range edges {
				if l > 0 {
					g.Edges = append(g.Edges, Edge{(l-1)*width + (i*7+k*13)%width, l*width + i})
				}
			}
		}
		g.Columns = append(g.Columns, column)
	}
	return g
}

func BenchmarkNew(b *testing.B) {
	for name, g := range map[string]Graph{
		"100":                layered(10, 10, 2),
		"1000":               layered(20, 50, 3),
		"10000":              layered(50, 200, 3),
		"chain of 5000":      layered(5000, 1, 1),
		"4 full layers (70)": layered(4, 70, 70),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				New(g)
			}
		})
	}
}
