// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// build makes a graph of edges such as "a b" (a before b) and single nodes; names in square
// brackets are anchors.
func build(t testing.TB, lines ...string) (*Graph, map[string]int) {
	t.Helper()
	var b Builder
	numbers := map[string]int{}
	node := func(name string) int {
		n, ok := numbers[name]
		if !ok {
			n = b.Add(Node{Name: name, Anchor: strings.HasPrefix(name, "[")})
			numbers[name] = n
		}
		return n
	}
	for _, line := range lines {
		ends := strings.Fields(line)
		for _, name := range ends {
			node(name)
		}
		if len(ends) == 2 {
			b.Edge(Edge{From: node(ends[0]), To: node(ends[1]), Reason: "because"})
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g, numbers
}

func names(g *Graph, nodes []int) string {
	var list []string
	for _, n := range nodes {
		list = append(list, g.Node(n).Name)
	}
	return strings.Join(list, " ")
}

func choose(g *Graph, numbers map[string]int, text string) Selection {
	selected := make(Selection, g.Len())
	for name := range strings.FieldsSeq(text) {
		selected[numbers[name]] = true
	}
	return selected
}

func TestSequences(t *testing.T) {
	for name, test := range map[string]struct {
		lines          []string
		selected       string
		queue, demand  string
		waves, reverse string
	}{
		"names order what nothing else does": {
			lines: []string{"b", "c", "a"},
			queue: "a b c", demand: "a b c", waves: "a b c", reverse: "c b a",
		},
		"chain against the names": {
			lines: []string{"c b", "b a"},
			queue: "c b a", demand: "c b a", waves: "c|b|a", reverse: "a b c",
		},
		"the queue keeps what became ready together": {
			lines: []string{"a b", "b c", "z d"},
			queue: "a z b d c", demand: "a b c z d", waves: "a z|b d|c", reverse: "c d b z a",
		},
		"through what is not selected": {
			lines: []string{"c b", "b a"}, selected: "a c",
			queue: "c a", demand: "c a", waves: "c|a", reverse: "a c",
		},
		"anchors pass on": {
			lines: []string{"y [end]", "x [end]", "[end] b", "[end] a"},
			queue: "x y a b", demand: "x y a b", waves: "x y|a b", reverse: "b a y x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, numbers := build(t, test.lines...)
			var selected Selection
			if test.selected != "" {
				selected = choose(g, numbers, test.selected)
			}
			if got := names(g, g.Sequence(ByQueue, selected)); got != test.queue {
				t.Errorf("by queue: %s, want %s", got, test.queue)
			}
			if test.demand != "" {
				if got := names(g, g.Sequence(ByDemand, selected)); strings.ReplaceAll(got, "y x", "x y") != test.demand {
					t.Errorf("by demand: %s, want %s", got, test.demand)
				}
			}
			var waves []string
			for _, wave := range g.Waves(selected) {
				waves = append(waves, names(g, wave))
			}
			if got := strings.Join(waves, "|"); got != test.waves {
				t.Errorf("waves: %s, want %s", got, test.waves)
			}
			if got := names(g, g.Reverse().Sequence(ByQueue, selected)); got != test.reverse {
				t.Errorf("sequence of the reverse: %s, want %s", got, test.reverse)
			}
		})
	}
}

func TestWeightsAndTies(t *testing.T) {
	var b Builder
	b.Add(Node{Name: "a", Weight: 1})
	b.Add(Node{Name: "b", Weight: -99.9})
	b.Add(Node{Name: "c", Ties: []string{"pkg", "removed"}})
	b.Add(Node{Name: "d", Ties: []string{"pkg", "installed"}})
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(g, g.Sequence(ByDemand, nil)), "b d c a"; got != want {
		t.Errorf("sequence: %s, want %s", got, want)
	}
}

// Line C-31: requisites are looked at in the order in which they are written.
func TestDemandFollowsWrittenOrder(t *testing.T) {
	g, _ := build(t, "z a", "y a", "x a")
	if got, want := names(g, g.Sequence(ByDemand, nil)), "z y x a"; got != want {
		t.Errorf("sequence: %s, want %s", got, want)
	}
}

func TestCycles(t *testing.T) {
	var b Builder
	for _, name := range []string{"d", "c", "b", "a", "self", "x", "y", "free"} {
		b.Add(Node{Name: name})
	}
	at := func(line int) Place { return Place{File: "f.hcl", Line: line, Column: 3} }
	b.Edge(Edge{From: 0, To: 1, Reason: `before = ["c"]`, Place: at(1)}) // d before c
	b.Edge(Edge{From: 1, To: 3, Place: at(2)})
	b.Edge(Edge{From: 3, To: 0, Place: at(3)})
	b.Edge(Edge{From: 3, To: 2, Place: at(4)})
	b.Edge(Edge{From: 2, To: 1, Place: at(5)})
	b.Edge(Edge{From: 4, To: 4, Place: at(6)})
	b.Edge(Edge{From: 5, To: 6, Place: at(7)})
	b.Edge(Edge{From: 6, To: 5, Place: at(8)})
	_, err := b.Build()
	want := []string{
		"at f.hcl:4:3",
		"these would have to wait for each other: a → b → c → a",
		"  a before b (f.hcl:4:3)",
		"  b before c (f.hcl:5:3)",
		"  c before a (f.hcl:2:3)",
		"at f.hcl:6:3",
		"self would have to wait for itself: self → self",
		"  self before self (f.hcl:6:3)",
		"at f.hcl:7:3",
		"these would have to wait for each other: x → y → x",
		"  x before y (f.hcl:7:3)",
		"  y before x (f.hcl:8:3)",
	}
	var got []string
	cycles, _ := errors.AsType[CycleErrors](err)
	for _, cycle := range cycles {
		got = append(got, "at "+cycle.Place().String())
		got = append(got, strings.Split(cycle.Error(), "\n")...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cycles (-want +got):\n%s", diff)
	}
}

func TestExplain(t *testing.T) {
	g, numbers := build(t, "c b", "b a", "x")
	e := g.Explain(ByQueue, numbers["a"], numbers["c"])
	if e.First != numbers["c"] || len(e.Chain) != 2 || e.Chain[0].To != numbers["b"] {
		t.Errorf("a and c: %+v, want the chain from c over b", e)
	}
	e = g.Explain(ByQueue, numbers["x"], numbers["c"])
	if e.First != numbers["c"] || len(e.Chain) != 0 || e.Rule != "nothing orders them but their names" {
		t.Errorf("c and x: %+v, want their names", e)
	}
	e = g.Explain(ByQueue, numbers["x"], numbers["a"])
	if e.First != numbers["x"] || e.Rule != "nothing orders them; x has less to wait for" {
		t.Errorf("x and a: %+v, want x for having less to wait for", e)
	}
}

func TestReduced(t *testing.T) {
	g, numbers := build(t, "a b", "b c", "a c", "c d", "[x] d", "a [x]")
	text := func(edges []Edge) string {
		var list []string
		for _, e := range edges {
			list = append(list, g.Node(e.From).Name+g.Node(e.To).Name)
		}
		return strings.Join(list, " ")
	}
	if got, want := text(g.Reduced(nil, false)), "ab ac ad bc cd"; got != want {
		t.Errorf("edges: %s, want %s", got, want)
	}
	if got, want := text(g.Reduced(nil, true)), "ab bc cd"; got != want {
		t.Errorf("edges without implied ones: %s, want %s", got, want)
	}
	if got, want := text(g.Reduced(choose(g, numbers, "a d"), false)), "ad"; got != want {
		t.Errorf("edges of a and d: %s, want %s", got, want)
	}
}

// randomGraph has edges from lower to higher numbers only, under names that say nothing of them.
func randomGraph(t testing.TB, random *rand.Rand, nodes, edges int) *Graph {
	t.Helper()
	var b Builder
	for i := range nodes {
		b.Add(Node{Name: fmt.Sprintf("%08x-%d", random.Uint32(), i), Anchor: random.IntN(10) == 0})
	}
	for range edges {
		from, to := random.IntN(nodes), random.IntN(nodes)
		if from != to {
			b.Edge(Edge{From: min(from, to), To: max(from, to)})
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestRunFollowsEdges(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		g := randomGraph(t, random, 1+random.IntN(60), random.IntN(200))
		selected := make(Selection, g.Len())
		for n := range selected {
			selected[n] = random.IntN(3) > 0
		}
		parallel := 1 + random.IntN(6)
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var begun, ended []int
			running, most := 0, 0
			results := g.Run(t.Context(), RunOptions{Selected: selected, Parallel: parallel}, func(_ context.Context, n int) error {
				mu.Lock()
				begun = append(begun, n)
				running++
				most = max(most, running)
				for _, edge := range g.Reduced(selected, false) {
					if edge.To == n && !slices.Contains(ended, edge.From) {
						t.Errorf("seed %d: %d began before %d had ended", seed, n, edge.From)
					}
				}
				mu.Unlock()
				<-time.After(time.Duration(1+n%7) * time.Millisecond) // of the bubble's clock
				mu.Lock()
				ended = append(ended, n)
				running--
				mu.Unlock()
				return nil
			})
			sequence := g.Sequence(ByQueue, selected)
			if len(begun) != len(sequence) {
				t.Errorf("seed %d: %d nodes were run, want %d", seed, len(begun), len(sequence))
			}
			if parallel == 1 && !slices.Equal(begun, sequence) {
				t.Errorf("seed %d: one at a time in the order %v, want %v", seed, begun, sequence)
			}
			if most > parallel {
				t.Errorf("seed %d: %d at the same time, want %d at most", seed, most, parallel)
			}
			for n, result := range results {
				if want := g.works(n, selected); (result.State == Succeeded) != want {
					t.Errorf("seed %d: node %d has state %d", seed, n, result.State)
				}
			}
		})
	}
}

// Line O-06.
func TestFailures(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		opts RunOptions
		want string
	}{
		"dependents are skipped": {RunOptions{}, "a failed, b skipped by a, c skipped by a, d succeeded, e succeeded"},
		"fail fast":              {RunOptions{FailFast: true}, "a failed, b skipped by a, c skipped by a, d not started, e not started"},
		"keep going":             {RunOptions{KeepGoing: true}, "a failed, b succeeded, c succeeded, d succeeded, e succeeded"},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := build(t, "a b", "b c", "d e")
			results := g.Run(t.Context(), test.opts, func(_ context.Context, n int) error {
				if g.Node(n).Name == "a" {
					return broken
				}
				return nil
			})
			var got []string
			for n, result := range results {
				text := g.Node(n).Name + " " + [...]string{"not started", "succeeded", "failed", "skipped by "}[result.State]
				if result.State == Skipped {
					text += g.Node(result.Because).Name
				}
				if (result.State == Failed) != errors.Is(result.Err, broken) {
					t.Errorf("%s: error %v", text, result.Err)
				}
				got = append(got, text)
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunStopsWithContext(t *testing.T) {
	g, _ := build(t, "a b", "b c")
	ctx, cancel := context.WithCancel(t.Context())
	results := g.Run(ctx, RunOptions{Parallel: 3}, func(context.Context, int) error {
		cancel()
		return nil
	})
	if results[0].State != Succeeded || results[1].State != NotStarted || results[2].State != NotStarted {
		t.Errorf("results: %+v, want only the first to have run", results)
	}
}

// layers is the graph of line O-07.
func layers(t testing.TB, count, width int) (*Graph, Selection) {
	var b Builder
	for layer := range count {
		for i := range width {
			n := b.Add(Node{Name: fmt.Sprintf("%d-%03d", layer, i)})
			for before := (layer - 1) * width; layer > 0 && before < layer*width; before++ {
				b.Edge(Edge{From: before, To: n})
			}
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	selected := make(Selection, g.Len())
	for i := range width {
		selected[i], selected[len(selected)-1-i] = true, true
	}
	return g, selected
}

// Line O-07. Its cost is bounded in work_test.go.
func TestOrderO07EndsOfLayers(t *testing.T) {
	g, selected := layers(t, 4, 70)
	if got := len(g.Sequence(ByQueue, selected)); got != 140 {
		t.Errorf("%d nodes, want 140", got)
	}
	if waves := g.Waves(selected); len(waves) != 2 || len(waves[0]) != 70 || len(waves[1]) != 70 {
		t.Errorf("%d waves, want two of 70", len(waves))
	}
	if got := len(g.Reduced(selected, false)); got != 70*70 {
		t.Errorf("%d edges, want %d", got, 70*70)
	}
}
