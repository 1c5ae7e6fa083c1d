// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	. "github.com/cairnstacks/cairn/promising"
)

func wantCycle(t *testing.T, err error, rotated ...string) *CycleError {
	t.Helper()
	cycle, ok := errors.AsType[*CycleError](err)
	if !ok {
		t.Fatalf("error = %v, want a CycleError", err)
	}
	if got := cycle.RotatedNames(); !slices.Equal(got, rotated) {
		t.Errorf("CycleError names %q, want %q", got, rotated)
	}
	return cycle
}

func TestRow277SelfAwait(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		resolver, get := NewPromise[int](ctx, "own")
		_, err := get.Await(ctx)
		cycle := wantCycle(t, err, "own")
		if cycle.IDs[0] != get.PromiseID() {
			t.Error("wrong id")
		}
		if want := "promise waits for itself: own"; err.Error() != want {
			t.Errorf("message %q, want %q", err, want)
		}
		resolver.Resolve(ctx, 1, nil) // ignored (rule P6)
		resolver.Resolve(ctx, 2, nil)
		if _, again := get.Await(ctx); again != err {
			t.Errorf("second Await: %v, want the same error", again)
		}
	})
}

// Main need not resolve a promise that a cycle has failed, and may still hand it over.
func TestFailedPromiseMayBeHandedOver(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		resolver, get := NewPromise[int](ctx, "own")
		_, _ = get.Await(ctx)
		done := make(chan none)
		AsyncTask(ctx, resolver, func(ctx context.Context, r PromiseResolver[int]) {
			defer close(done)
			r.Resolve(ctx, 1, nil)
		})
		<-done
		_, err := get.Await(ctx)
		_ = wantCycle(t, err, "own")
	})
}

var errUnsettled = errors.New("woke before all promises of the cycle had failed")

// ring makes n tasks of which each awaits the promise of the next, and returns
// the error that each got. All start to wait at once, after ready was called.
// A task that finds a promise still unsettled when it wakes returns errUnsettled.
func ring(ctx context.Context, n int, ready func()) ([]PromiseGet[int], []error) {
	resolvers := make([]PromiseResolver[int], n)
	gets := make([]PromiseGet[int], n)
	for i := range n {
		resolvers[i], gets[i] = NewPromise[int](ctx, fmt.Sprintf("p%04d", i))
	}
	errs := make([]error, n)
	start := make(chan none)
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		AsyncTask(ctx, resolvers[i], func(ctx context.Context, r PromiseResolver[int]) {
			defer wg.Done()
			<-start
			v, err := gets[(i+1)%n].Await(ctx)
			errs[i] = err
			ended, cancel := context.WithCancel(ctx)
			cancel()
			for j := range gets {
				if _, err := gets[j].Await(ended); err == context.Canceled {
					errs[i] = errUnsettled // rule P6: all fail before any wakes
				}
			}
			r.Resolve(ctx, v, err)
		})
	}
	ready()
	close(start)
	wg.Wait()
	return gets, errs
}

func TestRow279Ring(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inTask(t, func(t *testing.T, ctx context.Context) {
				for range max(1, 2000/n) {
					checkRing(t, ctx, n)
				}
			})
		})
	}
}

func checkRing(t *testing.T, ctx context.Context, n int) {
	t.Helper()
	gets, errs := ring(ctx, n, synctest.Wait)
	var ids []PromiseID
	var names []string
	for _, g := range gets {
		ids = append(ids, g.PromiseID())
		names = append(names, g.PromiseID().Name())
	}
	if slices.Contains(errs, errUnsettled) {
		t.Fatal(errUnsettled)
	}
	cycle := wantCycle(t, errs[0], names...)
	for i, err := range errs {
		if err != errs[0] {
			t.Fatalf("task %d got %v, not the same error as task 0", i, err)
		}
	}
	first := slices.Index(ids, cycle.IDs[0])
	if want := slices.Concat(ids[first:], ids[:first]); !slices.Equal(cycle.IDs, want) {
		t.Errorf("ids %v, want %v", cycle.IDs, want)
	}
	for _, g := range gets {
		if _, err := g.Await(ctx); err != errs[0] {
			t.Errorf("later waiter got %v", err)
		}
	}
}

// A cycle wakes not only the tasks on it but all that wait for one of its promises, and those that
// wait for these.
func TestTrapC22CycleWakesAllWaiters(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		const n = 3
		var resolvers [n]PromiseResolver[int]
		var gets [n]PromiseGet[int]
		for i := range n {
			resolvers[i], gets[i] = NewPromise[int](ctx, fmt.Sprint(i))
		}
		var waiters []PromiseGet[int]
		follow := func(get PromiseGet[int]) PromiseGet[int] {
			r, g := NewPromise[int](ctx, "waiter")
			AsyncTask(ctx, r, func(ctx context.Context, r PromiseResolver[int]) {
				v, err := get.Await(ctx)
				r.Resolve(ctx, v, err)
			})
			waiters = append(waiters, g)
			return g
		}
		for _, get := range gets {
			for range 5 {
				follow(follow(get))
			}
		}
		last := make(chan none)
		for i, resolver := range resolvers {
			AsyncTask(ctx, resolver, func(ctx context.Context, r PromiseResolver[int]) {
				if i == n-1 {
					<-last // closes the cycle once all others wait
				}
				v, err := gets[(i+1)%n].Await(ctx)
				r.Resolve(ctx, v, err)
			})
		}
		synctest.Wait()
		close(last)
		_, err := gets[0].Await(ctx)
		if cycle := wantCycle(t, err, "0", "1", "2"); len(cycle.IDs) != n {
			t.Errorf("%d promises on the cycle, want %d", len(cycle.IDs), n)
		}
		for i, waiter := range waiters {
			if _, got := waiter.Await(ctx); got != err {
				t.Errorf("waiter %d got %v, not the error of the cycle", i, got)
			}
		}
	})
}

// The cycle is closed last by a task deep inside a chain of Once and async tasks.
func TestRow280NestedChainClosesCycle(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		var a, b, c Once[int]
		var outside Once[int]
		var doA, doB, doC func(ctx context.Context) (int, error)
		doA = func(ctx context.Context) (int, error) {
			return a.Do(ctx, "stack.a", func(ctx context.Context) (int, error) { return doB(ctx) })
		}
		doB = func(ctx context.Context) (int, error) {
			return b.Do(ctx, "component.b", func(ctx context.Context) (int, error) {
				r, g := NewPromise[int](ctx, "component.b plan")
				AsyncTask(ctx, r, func(ctx context.Context, r PromiseResolver[int]) {
					v, err := doC(ctx)
					r.Resolve(ctx, v, err)
				})
				return g.Await(ctx)
			})
		}
		doC = func(ctx context.Context) (int, error) {
			return c.Do(ctx, "local.c", func(ctx context.Context) (int, error) { return doA(ctx) })
		}
		// One that waits for the cycle but is not on it sees the error it was given.
		_, err := outside.Do(ctx, "output.o", doA)
		cycle := wantCycle(t, err, "component.b", "component.b plan", "local.c", "stack.a")
		for _, do := range []func(context.Context) (int, error){doA, doB, doC} {
			if _, again := do(ctx); again != err {
				t.Errorf("got %v, want the same error for all participants", again)
			}
		}
		if slices.Contains(cycle.IDs, outside.PromiseID()) {
			t.Error("a mere waiter is reported as part of the cycle")
		}
		if want := "promises wait for each other: component.b -> component.b plan -> local.c -> stack.a -> component.b"; err.Error() != want {
			t.Errorf("message %q, want %q", err, want)
		}
	})
}

// Rule P11: a main task in a task holds up the outer one.
func TestMainTaskInsideTask(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		r1, g1 := NewPromise[int](ctx, "outer 1")
		r2, g2 := NewPromise[int](ctx, "outer 2")
		_, err := MainTask(ctx, func(inner context.Context) (int, error) {
			_, err := g1.Await(inner)
			_ = wantCycle(t, err, "outer 1")
			mustPanic(t, "rule P1", func() { _, _ = g2.Await(ctx) })
			return g2.Await(inner)
		})
		_ = wantCycle(t, err, "outer 2")
		r1.Resolve(ctx, 1, nil)
		r2.Resolve(ctx, 1, nil)

		// Afterwards the outer task is free again.
		r3, g3 := NewPromise[int](ctx, "outer 3")
		AsyncTask(ctx, r3, func(ctx context.Context, r PromiseResolver[int]) { r.Resolve(ctx, 3, nil) })
		got, err := g3.Await(ctx)
		wantResult(t, got, err, 3)
	})
}

// A waiter that its context freed is not part of later cycles.
func TestCancelledWaitIsNoPartOfCycle(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		rp, gp := NewPromise[int](ctx, "p")
		rq, gq := NewPromise[int](ctx, "q")
		freed := make(chan none)
		short, cancel := context.WithCancel(ctx)
		AsyncTask(short, rp, func(ctx context.Context, r PromiseResolver[int]) {
			if _, err := gq.Await(ctx); err != context.Canceled {
				t.Errorf("Await() error = %v, want canceled", err)
			}
			close(freed)
			synctest.Wait() // until the other task awaits p
			r.Resolve(ctx, 1, nil)
		})
		synctest.Wait()
		cancel()
		<-freed
		AsyncTask(ctx, rq, func(ctx context.Context, r PromiseResolver[int]) {
			v, err := gp.Await(ctx)
			r.Resolve(ctx, v+1, err)
		})
		got, err := gq.Await(ctx)
		wantResult(t, got, err, 2)
	})
}

// The edges of a cycle exist one after the other, never together: each is freed
// before the next begins, while another task walks along them.
func TestWaitsAtDifferentTimesAreNoCycle(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		for range 1000 {
			rp, gp := NewPromise[int](ctx, "p")
			rq, gq := NewPromise[int](ctx, "q")
			rr, gr := NewPromise[int](ctx, "r")
			short, cancel := context.WithCancel(ctx)
			freed := make(chan none)
			var wg sync.WaitGroup
			wg.Add(3)
			AsyncTask(short, rp, func(ctx context.Context, r PromiseResolver[int]) {
				defer wg.Done()
				_, _ = gq.Await(ctx)
				close(freed)
				r.Resolve(ctx, 1, nil)
			})
			AsyncTask(ctx, rr, func(ctx context.Context, r PromiseResolver[int]) {
				defer wg.Done()
				v, err := gp.Await(ctx)
				r.Resolve(ctx, v+1, err)
			})
			AsyncTask(ctx, rq, func(ctx context.Context, r PromiseResolver[int]) {
				defer wg.Done()
				<-freed
				v, err := gr.Await(ctx)
				r.Resolve(ctx, v+1, err)
			})
			cancel()
			got, err := gq.Await(ctx)
			wantResult(t, got, err, 3)
			wg.Wait()
		}
	})
}

func TestCycleErrorNames(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		id := func(name string) PromiseID {
			r, g := NewPromise[int](ctx, name)
			r.Resolve(ctx, 0, nil)
			return g.PromiseID()
		}
		a, b, c, a2, anonymous := id("a"), id("b"), id("c"), id("a"), id("")
		for _, tt := range []struct {
			ids  []PromiseID
			want []string
		}{
			{nil, []string{}},
			{[]PromiseID{b}, []string{"b"}},
			{[]PromiseID{c, b, a}, []string{"a", "c", "b"}},
			{[]PromiseID{a, c, a2, b}, []string{"a", "b", "a", "c"}},
			{[]PromiseID{b, anonymous}, []string{"(...)", "b"}},
		} {
			got := (&CycleError{IDs: tt.ids}).RotatedNames()
			if !slices.Equal(got, tt.want) {
				t.Errorf("RotatedNames() of %v = %q, want %q", tt.ids, got, tt.want)
			}
		}
		abc := &CycleError{IDs: []PromiseID{a, b, c}}
		for _, tt := range []struct {
			other *CycleError
			want  bool
		}{
			{abc, true},
			{&CycleError{IDs: []PromiseID{c, a, b}}, true},
			{&CycleError{IDs: []PromiseID{c, b, a}}, false},
			{&CycleError{IDs: []PromiseID{a2, b, c}}, false},
			{&CycleError{IDs: []PromiseID{a, b}}, false},
			{nil, false},
		} {
			if got := abc.SameCycle(tt.other); got != tt.want {
				t.Errorf("SameCycle(%v) = %v, want %v", tt.other, got, tt.want)
			}
		}
	})
}
