// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/cairnstacks/cairn/promising"
)

var (
	randomSeed   = flag.Uint64("promising.seed", 1, "seed of the random graphs; 0 chooses one")
	randomGraphs = flag.Int("promising.graphs", 4000, "number of random graphs")
)

// TestRandomGraphs runs programs of tasks and promises that do anything the
// rules allow, and end in any way a task can end. Each runs in its own bubble, so an
// await that never ends, or a goroutine that stays, fails it. All who see a result
// of one promise must see the same result.
//
// In half of the graphs promises are numbered, and a task awaits only promises with
// smaller numbers than all it is responsible for. There no cycle may be reported.
func TestRandomGraphs(t *testing.T) {
	seed := *randomSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-promising.seed=%d", seed)
	count := *randomGraphs
	if testing.Short() {
		count = min(count, 500)
	}

	var total tally
	for i := range count {
		graphSeed := seed + uint64(i) // graph i is the first one of a run with this seed
		t.Run(fmt.Sprintf("seed=%d", graphSeed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runGraph(t, graphSeed, &total) })
		})
	}
	t.Logf("awaits: %d values, %d cycles, %d unresolved, %d freed by their context; %d panics",
		total.values.Load(), total.cycles.Load(), total.unresolved.Load(), total.freed.Load(), total.panics.Load())
	if count >= 500 {
		for name, n := range map[string]*atomic.Int64{
			"values": &total.values, "cycles": &total.cycles, "unresolved": &total.unresolved,
			"freed": &total.freed, "panics": &total.panics,
		} {
			if n.Load() == 0 {
				t.Errorf("no await ended in %s: the generator misses a case", name)
			}
		}
	}
}

type tally struct {
	values, cycles, unresolved, freed, panics atomic.Int64
}

// graph is one random program. Node i is a promise or, if gets[i] is not used, a Once.
type graph struct {
	t       *testing.T
	total   *tally
	acyclic bool
	seed    uint64
	gets    []PromiseGet[int]
	cells   []Once[int]
	isCell  []bool
	budget  atomic.Int64 // tasks that may still be started

	mu struct {
		sync.Mutex
		seen map[int]outcome
	}
}

type outcome struct {
	value int
	err   error
}

// own is a promise with its number.
type own struct {
	PromiseResolver[int]
	node int
}

type ownList []own

func (l ownList) EachResolver(visit func(AnyResolver)) {
	for _, o := range l {
		visit(o.PromiseResolver)
	}
}

var errOwn = errors.New("supplied by the task")

func runGraph(t *testing.T, seed uint64, total *tally) {
	rng := rand.New(rand.NewPCG(seed, 0))
	n := 1 + rng.IntN(12)
	g := &graph{
		t: t, total: total, acyclic: seed%2 == 0, seed: seed,
		gets: make([]PromiseGet[int], n), cells: make([]Once[int], n), isCell: make([]bool, n),
	}
	g.mu.seen = make(map[int]outcome)
	g.budget.Store(int64(2 * n))

	// In a goroutine of its own, since the main task may call runtime.Goexit.
	done := make(chan none)
	go func() {
		defer close(done)
		defer func() {
			if recover() != nil {
				g.total.panics.Add(1)
			}
		}()
		ctx := WithPanicHandler(t.Context(), func(*UnresolvedError) { g.total.panics.Add(1) })
		_, _ = MainTask(ctx, func(ctx context.Context) (none, error) {
			var mine ownList
			for i := range n {
				if g.isCell[i] = rng.IntN(3) == 0; g.isCell[i] {
					continue
				}
				r, get := NewPromise[int](ctx, fmt.Sprintf("p%d", i))
				g.gets[i] = get
				mine = append(mine, own{r, i})
			}
			for g.budget.Load() > int64(n) && len(mine) > 0 {
				mine = g.spawn(ctx, rng, mine, n)
			}
			g.task(ctx, rng, mine, n)
			return none{}, nil
		})
	}()
	<-done

	// Let the tasks that sleep go on, and end: the bubble's clock stops with this
	// goroutine. Whatever is left then is stuck.
	defer time.Sleep(time.Second)

	// Whatever happened, everything can be awaited to an end afterwards.
	for i := range n {
		if g.isCell[i] && g.cells[i].PromiseID() == (PromiseID{}) {
			continue
		}
		_, _ = MainTask(t.Context(), func(ctx context.Context) (none, error) {
			g.await(ctx, i)
			return none{}, nil
		})
	}
}

// limit is the first node that a task responsible for mine may not await.
func (g *graph) limit(mine ownList, limit int) int {
	if !g.acyclic {
		return len(g.gets)
	}
	for _, o := range mine {
		limit = min(limit, o.node)
	}
	return limit
}

// task does random things with the promises in mine and then ends in a random way. above bounds the
// promises that it may await on behalf of the tasks it holds up.
func (g *graph) task(ctx context.Context, rng *rand.Rand, mine ownList, above int) {
	for range rng.IntN(6) {
		limit := g.limit(mine, above)
		switch rng.IntN(8) {
		case 0, 1, 2:
			if limit > 0 {
				g.awaitSomehow(ctx, rng, rng.IntN(limit))
			}
		case 3:
			if len(mine) > 0 {
				mine = g.resolveOne(ctx, rng, mine)
			}
		case 4, 5:
			mine = g.spawn(ctx, rng, mine, len(g.gets))
		case 6:
			g.nested(ctx, rng, limit)
		case 7:
			time.Sleep(time.Duration(rng.IntN(3)) * time.Millisecond) // bubble time: another schedule
		}
	}

	switch rng.IntN(12) {
	case 0:
		return // with unresolved promises
	case 1:
		panic("random")
	case 2:
		runtime.Goexit()
	}
	for len(mine) > 0 {
		mine = g.resolveOne(ctx, rng, mine)
	}
}

func (g *graph) resolveOne(ctx context.Context, rng *rand.Rand, mine ownList) ownList {
	i := rng.IntN(len(mine))
	o := mine[i]
	var err error
	if rng.IntN(4) == 0 {
		err = errOwn
	}
	o.Resolve(ctx, o.node, err)
	return slices.Concat(mine[:i], mine[i+1:])
}

// spawn starts a task that takes over some of mine, and returns the rest.
func (g *graph) spawn(ctx context.Context, rng *rand.Rand, mine ownList, above int) ownList {
	if g.budget.Add(-1) < 0 {
		return mine
	}
	mine = slices.Clone(mine)
	rng.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
	split := rng.IntN(len(mine) + 1)
	childRNG := rand.New(rand.NewPCG(rng.Uint64(), 1))
	AsyncTask(ctx, mine[:split], func(ctx context.Context, mine ownList) {
		g.task(ctx, childRNG, mine, above)
	})
	return mine[split:]
}

func (g *graph) nested(ctx context.Context, rng *rand.Rand, limit int) {
	if g.budget.Add(-1) < 0 {
		return
	}
	defer func() {
		if rng.IntN(2) == 0 {
			_ = recover() // or let it end the outer task too
		}
	}()
	_, _ = MainTask(ctx, func(ctx context.Context) (none, error) {
		g.task(ctx, rng, nil, limit)
		return none{}, nil
	})
}

// awaitSomehow awaits a node with a context that may end before.
func (g *graph) awaitSomehow(ctx context.Context, rng *rand.Rand, node int) {
	switch rng.IntN(6) {
	case 0:
		short, cancel := context.WithTimeout(ctx, time.Duration(rng.IntN(3))*time.Millisecond)
		defer cancel()
		ctx = short
	case 1:
		short, cancel := context.WithCancel(ctx)
		go cancel() // at any moment
		ctx = short
	}
	g.await(ctx, node)
}

func (g *graph) await(ctx context.Context, node int) {
	var got outcome
	var id PromiseID
	if g.isCell[node] {
		got.value, got.err = g.cells[node].Do(ctx, fmt.Sprintf("once%d", node), func(ctx context.Context) (int, error) {
			rng := rand.New(rand.NewPCG(g.seed, uint64(node)+2))
			limit := len(g.gets)
			if g.acyclic {
				limit = node
			}
			g.task(ctx, rng, nil, limit)
			return node, nil
		})
		id = g.cells[node].PromiseID()
	} else {
		got.value, got.err = g.gets[node].Await(ctx)
		id = g.gets[node].PromiseID()
	}
	g.check(node, id, got)
}

func (g *graph) check(node int, id PromiseID, got outcome) {
	g.t.Helper()
	if errors.Is(got.err, context.Canceled) || errors.Is(got.err, context.DeadlineExceeded) {
		g.total.freed.Add(1)
		return
	}
	switch err := got.err.(type) {
	case *CycleError:
		g.total.cycles.Add(1)
		if g.acyclic {
			g.t.Errorf("node %d: %v, where no cycle can be", node, err)
		}
		if !slices.Contains(err.IDs, id) {
			g.t.Errorf("node %d (%v) is not on its cycle %v", node, id, err.IDs)
		}
		if sorted := err.Names(); len(slices.Compact(slices.Sorted(slices.Values(sorted)))) != len(err.IDs) {
			g.t.Errorf("cycle %v names a promise twice", err.IDs)
		}
	case *UnresolvedError:
		g.total.unresolved.Add(1)
		if !slices.Contains(err.IDs, id) {
			g.t.Errorf("node %d (%v) is not among the unresolved %v", node, id, err.IDs)
		}
	default:
		g.total.values.Add(1)
		if got.value != node || err != nil && err != errOwn {
			g.t.Errorf("node %d: got (%v, %v)", node, got.value, err)
		}
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	if before, ok := g.mu.seen[node]; ok && before != got {
		g.t.Errorf("node %d: got %v, another waiter got %v", node, got, before)
	}
	g.mu.seen[node] = got
}
