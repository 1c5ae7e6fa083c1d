// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising

import (
	"context"
	"fmt"
	"testing"
)

// wait makes the chain link by hand: owner is responsible for a new promise and t
// awaits it.
func (t *task) wait(owner *task, name string) *promise {
	p := &promise{name: name}
	owner.adopt(p)
	t.beginAwait(p)
	return p
}

// A recorded chain is not a cycle if a participant was freed since the walk, even if it waits for
// the same promise again.
func TestChainHoldsOnlyIfUnchanged(t *testing.T) {
	for name, change := range map[string]struct {
		change func(a, b *task, p, q *promise)
		want   bool
	}{
		"nothing":    {func(_, _ *task, _, _ *promise) {}, true},
		"freed":      {func(_, b *task, _, _ *promise) { b.endAwait() }, false},
		"waits anew": {func(_, b *task, _, q *promise) { b.endAwait(); b.beginAwait(q) }, false},
		"settled":    {func(_, _ *task, p, _ *promise) { p.fail(nil) }, false},
		"handed over": {func(_, b *task, p, _ *promise) {
			b.transfer(&task{}, p)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := &task{}, &task{}
			p := a.wait(b, "p")
			q := b.wait(a, "q")
			length := a.reaches(p)
			if length != 2 {
				t.Fatalf("reaches() = %d, want 2", length)
			}
			c := a.trace(p, length)
			change.change(a, b, p, q)
			if got := c.holds(); got != change.want {
				t.Errorf("holds() = %v, want %v", got, change.want)
			}
		})
	}
}

// Both tasks of a cycle may find it at the same time. The first to fail it decides.
func TestSecondFinderOfCycleLosesToFirst(t *testing.T) {
	a, b := &task{}, &task{}
	p := a.wait(b, "p")
	q := b.wait(a, "q")
	ofA, ofB := a.trace(p, 2), b.trace(q, 2)
	ofB.fail()
	ofA.fail()
	if p.err != q.err || p.err == nil {
		t.Errorf("p failed with %v, q with %v; want one error", p.err, q.err)
	}
	if cycle := p.err.(*CycleError); cycle.IDs[0] != (PromiseID{q}) {
		t.Errorf("cycle starts with %v, want q, as its first finder saw it", cycle.IDs[0])
	}
}

func TestTraceGivesUpWhereChainChanged(t *testing.T) {
	a, b := &task{}, &task{}
	p := a.wait(b, "p")
	q := b.wait(a, "q")
	b.endAwait()
	if c := a.trace(p, 2); c != nil || c.holds() {
		t.Errorf("trace() = %v with a free participant, want nil", c)
	}
	b.beginAwait(q)
	if c := a.trace(p, 1); c != nil {
		t.Errorf("trace() = %v, want nil for a cycle longer than announced", c)
	}
	q.fail(nil)
	if n := a.reaches(p); n != 0 {
		t.Errorf("reaches() = %d through a settled promise, want 0", n)
	}
}

// A leaves the list in any order without losing others.
func TestUnlink(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}, {1, 1, 1}} {
		owner := &task{}
		var ps []*promise
		for i := range 3 {
			ps = append(ps, &promise{name: fmt.Sprint(i)})
			owner.adopt(ps[i])
		}
		left := map[string]bool{"0": true, "1": true, "2": true}
		for _, i := range order {
			owner.release(ps[i])
			delete(left, ps[i].name)
			n := 0
			for p := owner.mu.first; p != nil; p = p.next {
				n++
				if !left[p.name] {
					t.Errorf("order %v: %s still linked", order, p.name)
				}
			}
			if n != len(left) {
				t.Errorf("order %v: %d linked after %d left, want %d", order, n, i, len(left))
			}
		}
	}
}

// The cost of the check before blocking is that of the chain it walks.
func BenchmarkCycleCheck(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			// The asker is responsible for nothing; the last task runs.
			asker, owner := &task{}, &task{}
			p := &promise{}
			owner.adopt(p)
			for range n - 1 {
				next := &task{}
				owner.wait(next, "")
				owner = next
			}
			b.ReportAllocs()
			for b.Loop() {
				asker.breakCycle(p)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/link")
		})
	}
}

func mainContext(tb testing.TB, f func(ctx context.Context)) {
	tb.Helper()
	_, err := MainTask(tb.Context(), func(ctx context.Context) (struct{}, error) {
		f(ctx)
		return struct{}{}, nil
	})
	if err != nil {
		tb.Error(err)
	}
}

func TestFastPathsDoNotAllocate(t *testing.T) {
	mainContext(t, func(ctx context.Context) {
		resolver, get := NewPromise[int](ctx, "p")
		resolver.Resolve(ctx, 1, nil)
		var once Once[int]
		work := func(context.Context) (int, error) { return 1, nil }
		_, _ = once.Do(ctx, "once", work)
		derived, cancel := context.WithCancel(ctx)
		defer cancel()

		for name, f := range map[string]func(){
			"Await":                    func() { _, _ = get.Await(ctx) },
			"Await in derived context": func() { _, _ = get.Await(derived) },
			"Once.Do":                  func() { _, _ = once.Do(ctx, "once", work) },
		} {
			if got := testing.AllocsPerRun(100, f); got != 0 {
				t.Errorf("%s of a settled promise allocates %v times", name, got)
			}
		}

		asker, owner := &task{}, &task{}
		p := owner.wait(&task{}, "far")
		q := asker.wait(owner, "near")
		if got := testing.AllocsPerRun(100, func() { asker.breakCycle(q) }); got != 0 {
			t.Errorf("a cycle check without cycle allocates %v times", got)
		}
		_ = p
	})
}

func BenchmarkAwaitResolved(b *testing.B) {
	mainContext(b, func(ctx context.Context) {
		resolver, get := NewPromise[int](ctx, "p")
		resolver.Resolve(ctx, 1, nil)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := get.Await(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkOnceDone(b *testing.B) {
	mainContext(b, func(ctx context.Context) {
		var once Once[int]
		work := func(context.Context) (int, error) { return 1, nil }
		b.ReportAllocs()
		for b.Loop() {
			if _, err := once.Do(ctx, "once", work); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkOnceFirst(b *testing.B) {
	mainContext(b, func(ctx context.Context) {
		work := func(context.Context) (int, error) { return 1, nil }
		b.ReportAllocs()
		for b.Loop() {
			var once Once[int]
			if _, err := once.Do(ctx, "once", work); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCreateResolve(b *testing.B) {
	mainContext(b, func(ctx context.Context) {
		b.ReportAllocs()
		for b.Loop() {
			resolver, get := NewPromise[int](ctx, "p")
			resolver.Resolve(ctx, 1, nil)
			if _, err := get.Await(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkHandOverAwait(b *testing.B) {
	mainContext(b, func(ctx context.Context) {
		b.ReportAllocs()
		for b.Loop() {
			resolver, get := NewPromise[int](ctx, "p")
			AsyncTask(ctx, resolver, func(ctx context.Context, r PromiseResolver[int]) { r.Resolve(ctx, 1, nil) })
			if _, err := get.Await(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
}
