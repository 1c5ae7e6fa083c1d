// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A soft edge orders, but a failure does not go past it; next to a hard one it changes nothing.
func TestSoftEdges(t *testing.T) {
	for name, test := range map[string]struct {
		edges []Edge
		want  State
	}{
		"soft":            {[]Edge{{From: 0, To: 1, Soft: true}}, Succeeded},
		"hard":            {[]Edge{{From: 0, To: 1}}, Skipped},
		"soft, then hard": {[]Edge{{From: 0, To: 1, Soft: true}, {From: 0, To: 1}}, Skipped},
		"hard, then soft": {[]Edge{{From: 0, To: 1}, {From: 0, To: 1, Soft: true}}, Skipped},
	} {
		t.Run(name, func(t *testing.T) {
			var b Builder
			b.Add(Node{Name: "z"})
			b.Add(Node{Name: "a"})
			for _, edge := range test.edges {
				b.Edge(edge)
			}
			g, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			var begun []int
			results := g.Run(t.Context(), RunOptions{}, func(_ context.Context, n int) error {
				begun = append(begun, n)
				if n == 0 {
					return errors.New("broken")
				}
				return nil
			})
			if results[1].State != test.want || begun[0] != 0 {
				t.Errorf("got state %d after %v, want %d after 0", results[1].State, begun, test.want)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	// b passes, c is skipped because of a; d and e come after them.
	g, numbers := build(t, "a b", "a c", "b d", "c e")
	results := g.Run(t.Context(), RunOptions{Parallel: 3, Decide: func(n int, result func(int) Result) Result {
		if n != numbers["a"] && result(numbers["a"]).State != Succeeded {
			t.Errorf("asked about %s before a had ended", g.Node(n).Name)
		}
		switch n {
		case numbers["b"]:
			return Result{State: Passed}
		case numbers["c"]:
			return Result{State: Skipped, Because: numbers["a"]}
		}
		return Result{}
	}}, func(context.Context, int) error { return nil })
	want := map[string]Result{
		"a": {State: Succeeded}, "b": {State: Passed}, "c": {State: Skipped, Because: numbers["a"]},
		"d": {State: Succeeded}, "e": {State: Skipped, Because: numbers["a"]},
	}
	for name, n := range numbers {
		if results[n] != want[name] {
			t.Errorf("%s: got %+v, want %+v", name, results[n], want[name])
		}
	}
}

// Limits hold, and none keeps something from running that others leave room for.
func TestLimits(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 3))
		g := randomGraph(t, random, 1+random.IntN(60), random.IntN(60))
		limits := make([]Limit, random.IntN(4))
		limitsOf := make([][]int, g.Len())
		for l := range limits {
			limits[l].Parallel = random.IntN(4)
			for n := range g.Len() {
				if random.IntN(2) == 0 {
					limits[l].Nodes = append(limits[l].Nodes, n)
					limitsOf[n] = append(limitsOf[n], l)
				}
			}
		}
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			running := make([]int, len(limits))
			count := func(n, by int) {
				mu.Lock()
				defer mu.Unlock()
				for _, l := range limitsOf[n] {
					if running[l] += by; running[l] > max(limits[l].Parallel, 1) {
						t.Errorf("seed %d: %d at the same time, want %d at most", seed, running[l], limits[l].Parallel)
					}
				}
			}
			results := g.Run(t.Context(), RunOptions{Parallel: 1 + random.IntN(6), Limits: limits}, func(_ context.Context, n int) error {
				count(n, 1)
				<-time.After(time.Duration(1+n%7) * time.Millisecond) // of the bubble's clock
				count(n, -1)
				return nil
			})
			for n, result := range results {
				if g.works(n, nil) != (result.State == Succeeded) {
					t.Errorf("seed %d: node %d has state %d", seed, n, result.State)
				}
			}
		})
	}
}

// A node that a limit holds back makes room for others.
func TestLimitLeavesRoom(t *testing.T) {
	g, numbers := build(t, "a", "b", "c")
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		limits := []Limit{{Parallel: 1, Nodes: []int{numbers["a"], numbers["b"]}}}
		g.Run(t.Context(), RunOptions{Parallel: 2, Limits: limits}, func(_ context.Context, n int) error {
			<-time.After(map[int]time.Duration{numbers["a"]: time.Second, numbers["b"]: time.Second, numbers["c"]: 2 * time.Second}[n])
			return nil
		})
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("took %s, want 2s: c at the same time as a and b", took)
		}
	})
}

// Points where others meet have no place in the order of weights and names.
func TestByDemandPassesAnchors(t *testing.T) {
	g, _ := build(t, "z [a]", "b", "[a] c")
	if got, want := names(g, g.Sequence(ByDemand, nil)), "b z c"; got != want {
		t.Errorf("order: %s, want %s", got, want)
	}
}

// The predecessors of a node are done by weight, also behind points where others meet.
func TestByWeight(t *testing.T) {
	var b Builder
	weights := []float64{0, 3, 1, 2, -1}
	for i, name := range []string{"all", "heavy", "light", "middle", "first"} {
		b.Add(Node{Name: name, Weight: weights[i]})
	}
	meeting := b.Add(Node{Name: "meeting", Anchor: true})
	for _, edge := range [][2]int{{1, meeting}, {meeting, 0}, {3, 0}, {2, meeting}, {1, 3}} {
		b.Edge(Edge{From: edge[0], To: edge[1]})
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	// All is wanted second and waits for the three; of these light is first, then middle, which waits
	// for heavy.
	if got, want := names(g, g.Sequence(ByWeight, nil)), "first light heavy middle all"; got != want {
		t.Errorf("order: %s, want %s", got, want)
	}
}

// The sequence of each rule obeys all edges.
func TestSequencesObeyEdges(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 5))
		g := randomGraph(t, random, 1+random.IntN(100), random.IntN(300))
		for _, rule := range []Rule{ByQueue, ByDemand, ByWeight} {
			position := map[int]int{}
			for i, n := range g.Sequence(rule, nil) {
				position[n] = i
			}
			for _, edge := range g.Reduced(nil, false) {
				if position[edge.From] >= position[edge.To] {
					t.Errorf("seed %d, rule %d: %d is not before %d", seed, rule, edge.From, edge.To)
				}
			}
		}
	}
}
