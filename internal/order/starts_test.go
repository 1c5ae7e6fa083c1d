// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// scenario is a run of which everything is known beforehand.
type scenario struct {
	graph   *Graph
	options RunOptions      // without Decide
	takes   []time.Duration // by node; no two of them end at the same time
	fails   []bool          // by node
	passes  []bool          // by node; Decide says so

	stopAfter time.Duration // when the context ends; 0 for never
}

func randomScenario(t testing.TB, random *rand.Rand, nodes, edges int) scenario {
	t.Helper()
	s := scenario{graph: randomGraph(t, random, nodes, edges)}
	s.options = RunOptions{
		Rule: []Rule{ByQueue, ByDemand, ByWeight}[random.IntN(3)], Parallel: 1 + random.IntN(5),
		FailFast: random.IntN(4) == 0, KeepGoing: random.IntN(4) == 0,
	}
	if random.IntN(2) == 0 {
		s.options.Selected = make(Selection, nodes)
	}
	if random.IntN(5) == 0 {
		s.stopAfter = time.Duration(1 + random.Int64N(int64(4*time.Hour)))
	}
	for range random.IntN(5) {
		limit := Limit{Parallel: random.IntN(3)}
		for n := range nodes {
			if random.IntN(3) == 0 {
				limit.Nodes = append(limit.Nodes, n)
			}
		}
		s.options.Limits = append(s.options.Limits, limit)
	}
	for n := range nodes {
		if s.options.Selected != nil {
			s.options.Selected[n] = random.IntN(4) > 0
		}
		s.takes = append(s.takes, time.Duration(1+random.Int64N(int64(time.Hour))))
		s.fails = append(s.fails, random.IntN(20) == 0)
		s.passes = append(s.passes, random.IntN(6) == 0)
	}
	return s
}

// start is one node that is started at a time.
type start struct {
	At   time.Duration // since the beginning of the run
	Node int
}

// simulate works out the starts step by step, looking at all nodes in each.
func (s scenario) simulate() (starts []start, states []State) {
	g, sequence := s.graph, s.graph.Sequence(s.options.Rule, s.options.Selected)
	states = make([]State, g.Len())
	ended, running := make([]bool, g.Len()), map[int]time.Duration{} // until when
	var isPast func(n int) bool
	isPast = func(n int) bool {
		if g.works(n, s.options.Selected) {
			return ended[n]
		}
		for edge := range g.Predecessors(n) {
			if !isPast(edge.From) {
				return false
			}
		}
		return true
	}
	var isBroken func(n int) bool // whether a failure comes from n
	isBroken = func(n int) bool {
		if states[n] == Failed || states[n] == Skipped {
			return true
		}
		for edge := range g.Predecessors(n) {
			if isBroken(edge.From) {
				return true
			}
		}
		return false
	}
	limited := func(n int) bool {
		for _, limit := range s.options.Limits {
			used := 0
			for other := range running {
				if slices.Contains(limit.Nodes, other) {
					used++
				}
			}
			if slices.Contains(limit.Nodes, n) && used >= max(limit.Parallel, 1) {
				return true
			}
		}
		return false
	}
	stopped := false
	for now := time.Duration(0); ; {
		stopped = stopped || s.stopAfter > 0 && now > s.stopAfter
		for _, n := range sequence {
			if _, runs := running[n]; runs || ended[n] ||
				slices.ContainsFunc(slices.Collect(g.Predecessors(n)), func(e Edge) bool { return !isPast(e.From) }) {
				continue
			}
			switch {
			case isBroken(n) && !s.options.KeepGoing:
				states[n], ended[n] = Skipped, true
			case s.passes[n]:
				states[n], ended[n] = Passed, true
			case len(running) == s.options.Parallel || limited(n):
			case stopped:
				ended[n] = true
			default:
				starts = append(starts, start{now, n})
				running[n] = now + s.takes[n]
			}
		}
		if len(running) == 0 {
			return starts, states
		}
		next := -1
		for n, until := range running {
			if next < 0 || until < running[next] {
				next = n
			}
		}
		now = running[next]
		delete(running, next)
		states[next], ended[next] = Succeeded, true
		if s.fails[next] {
			states[next] = Failed
			stopped = stopped || s.options.FailFast
		}
	}
}

// run does the same with goroutines. Of nodes that start at the same time, the first in the
// sequence is listed first.
func (s scenario) run(t *testing.T, yield func()) (starts []start, states []State) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		began := time.Now()
		options := s.options
		options.Decide = func(n int, result func(int) Result) Result {
			yield()
			for edge := range s.graph.Predecessors(n) {
				if s.graph.works(edge.From, options.Selected) && result(edge.From).State == NotStarted && !options.FailFast && s.stopAfter == 0 {
					t.Errorf("asked about %d before %d had ended", n, edge.From)
				}
			}
			if s.passes[n] {
				return Result{State: Passed}
			}
			return Result{}
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if s.stopAfter > 0 {
			time.AfterFunc(s.stopAfter, cancel)
		}
		results := s.graph.Run(ctx, options, func(_ context.Context, n int) error {
			mu.Lock()
			starts = append(starts, start{time.Since(began), n})
			mu.Unlock()
			<-time.After(s.takes[n]) // of the bubble's clock
			if s.fails[n] {
				return errors.New("broken")
			}
			return nil
		})
		for _, result := range results {
			states = append(states, result.State)
		}
	})
	position := make([]int, s.graph.Len())
	for i, n := range s.graph.Sequence(s.options.Rule, s.options.Selected) {
		position[n] = i
	}
	slices.SortFunc(starts, func(a, b start) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(position[a.Node], position[b.Node]))
	})
	return starts, states
}

// Line O-01: the moments of starts follow from the ends of nodes, as in a simulation with one step
// after the other.
func TestOrderO01StartsAreThoseOfASimulation(t *testing.T) {
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 7))
		s := randomScenario(t, random, 1+random.IntN(60), random.IntN(120))
		wantStarts, wantStates := s.simulate()
		starts, states := s.run(t, func() {})
		if diff := gocmp.Diff(wantStarts, starts); diff != "" {
			t.Errorf("seed %d, %d at a time, %d limits: starts (-want +got):\n%s", seed, s.options.Parallel, len(s.options.Limits), diff)
		}
		if diff := gocmp.Diff(wantStates, states); diff != "" {
			t.Errorf("seed %d: states (-want +got):\n%s", seed, diff)
		}
	}
}

// Line O-01: the starts are the same in each of many runs, on any number of processors.
func TestOrderO01StartsDoNotDependOnGoroutines(t *testing.T) {
	s := randomScenario(t, rand.New(rand.NewPCG(2, 7)), 50, 60)
	s.options.Parallel, s.options.FailFast, s.stopAfter = 4, false, 0
	want, _ := s.simulate()
	if len(want) < 20 {
		t.Fatalf("%d nodes start, too few to show something", len(want))
	}
	for _, processors := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(processors, " processors"), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			for i := range 1000 {
				random := rand.New(rand.NewPCG(uint64(i), 8))
				var mu sync.Mutex
				starts, _ := s.run(t, func() { // the goroutines come at other times in each run
					mu.Lock()
					yields := random.IntN(4)
					mu.Unlock()
					for range yields {
						runtime.Gosched()
					}
				})
				if !slices.Equal(starts, want) {
					t.Fatalf("run %d: starts (-want +got):\n%s", i, gocmp.Diff(want, starts))
				}
			}
		})
	}
}

// A node that is still to be decided about is not passed by one that comes after it.
func TestSlowDecisionKeepsItsPlace(t *testing.T) {
	g, numbers := build(t, "a", "b")
	synctest.Test(t, func(t *testing.T) {
		var begun []string
		g.Run(t.Context(), RunOptions{Parallel: 1, Decide: func(n int, _ func(int) Result) Result {
			if n == numbers["a"] {
				<-time.After(time.Minute)
			}
			return Result{}
		}}, func(_ context.Context, n int) error {
			begun = append(begun, g.Node(n).Name)
			return nil
		})
		if !slices.Equal(begun, []string{"a", "b"}) {
			t.Errorf("begun: %v, want a, b", begun)
		}
	})
}

// A failure that ends the run does not overtake nodes whose turn came earlier, whatever the
// goroutines do meanwhile.
func TestFailFastOvertakesNobody(t *testing.T) {
	const earlier = 50
	var b Builder
	for n := range earlier {
		b.Add(Node{Name: fmt.Sprintf("%02d", n)})
	}
	failing, later := b.Add(Node{Name: "failing"}), b.Add(Node{Name: "later"})
	b.Edge(Edge{From: failing, To: later})
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		results := g.Run(t.Context(), RunOptions{Parallel: earlier + 1, FailFast: true, KeepGoing: true}, func(ctx context.Context, n int) error {
			if n == failing {
				return errors.New("failed")
			}
			return ctx.Err() // the failure of another is not an interrupt
		})
		for n := range earlier {
			if got, want := results[n].State, Succeeded; got != want {
				t.Fatalf("Run: node %d is %v, want %v", n, got, want)
			}
		}
		if got, want := results[later].State, NotStarted; got != want {
			t.Fatalf("Run: the node after the failed one is %v, want %v", got, want)
		}
	}
}
