// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	. "github.com/cairnstacks/cairn/promising"
)

func TestRow281OnceRunsOnce(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		var once Once[int]
		if once.PromiseID() != (PromiseID{}) {
			t.Error("PromiseID() before first use is not zero")
		}
		var runs atomic.Int32
		var wg sync.WaitGroup
		for range 200 {
			wg.Add(1)
			AsyncTask(ctx, NoPromises, func(ctx context.Context, _ PromiseContainer) {
				defer wg.Done()
				got, err := once.Do(ctx, "memo", func(context.Context) (int, error) {
					return int(runs.Add(1)), nil
				})
				wantResult(t, got, err, 1)
			})
		}
		wg.Wait()
		if got := once.PromiseID().Name(); got != "memo" {
			t.Errorf("name %q, want memo", got)
		}
	})
}

func TestOnceKeepsErrorAcrossMainTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var once Once[int]
		broken := errors.New("broken")
		runs := 0
		for range 3 {
			got, err := MainTask(t.Context(), func(ctx context.Context) (int, error) {
				return once.Do(ctx, "memo", func(context.Context) (int, error) {
					runs++
					return 4, broken
				})
			})
			if got != 4 || err != broken {
				t.Errorf("Do() = (%v, %v), want (4, broken)", got, err)
			}
		}
		if runs != 1 {
			t.Errorf("ran %d times, want once", runs)
		}
	})
}

func TestRow282OnceAwaitsItself(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		var once Once[int]
		inner := make(chan error, 1) // the caller may wake while the work still unwinds
		var self func(ctx context.Context) (int, error)
		self = func(ctx context.Context) (int, error) {
			_, err := once.Do(ctx, "memo", self)
			inner <- err
			return 1, nil // ignored: the promise has failed
		}
		_, err := once.Do(ctx, "memo", self)
		cycle := wantCycle(t, err, "memo")
		if cycle.IDs[0] != once.PromiseID() {
			t.Error("wrong id")
		}
		if got := <-inner; got != err {
			t.Errorf("inside: %v, want the same error", got)
		}
		if _, again := once.Do(ctx, "memo", self); again != err {
			t.Errorf("later: %v, want the same error", again)
		}
	})
}

func TestOnceOutlivesItsFirstCaller(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		type key struct{}
		var once Once[int]
		proceed := make(chan none)
		work := func(ctx context.Context) (int, error) {
			<-proceed
			if ctx.Value(key{}) != nil {
				t.Error("the work sees values of its first caller (rule P9)")
			}
			return 9, context.Cause(ctx)
		}
		first, cancel := context.WithCancelCause(context.WithValue(ctx, key{}, "first"))
		gone := errors.New("gone")
		freed := make(chan none)
		AsyncTask(first, NoPromises, func(ctx context.Context, _ PromiseContainer) {
			defer close(freed)
			if _, err := once.Do(ctx, "memo", work); err != gone {
				t.Errorf("first caller: error %v, want the cause of its cancellation", err)
			}
		})
		synctest.Wait()
		cancel(gone)
		<-freed
		close(proceed)
		got, err := once.Do(ctx, "memo", work)
		wantResult(t, got, err, 9)
	})
}

func TestOnceIsNotStartedForEndedContext(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		var once Once[int]
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err := once.Do(ended, "memo", func(context.Context) (int, error) { return 1, nil })
		if err != context.Canceled {
			t.Errorf("Do() error = %v, want canceled", err)
		}
		got, err := once.Do(ctx, "memo", func(context.Context) (int, error) { return 2, nil })
		wantResult(t, got, err, 2)
	})
}

func TestOnceEndsWithContextOfMainTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("stop")
		root, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		_, err := MainTask(root, func(ctx context.Context) (int, error) {
			var once Once[int]
			cancel(stop)
			return once.Do(context.WithoutCancel(ctx), "memo", func(ctx context.Context) (int, error) {
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return 0, context.Cause(ctx)
			})
		})
		if err != stop || <-ended != stop {
			t.Errorf("Do() error = %v, want the cause given to the root context", err)
		}
	})
}

func TestOnceDeepChain(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		cells := make([]Once[int], 5000)
		var value func(ctx context.Context, i int) (int, error)
		value = func(ctx context.Context, i int) (int, error) {
			return cells[i].Do(ctx, "cell", func(ctx context.Context) (int, error) {
				if i == 0 {
					return 1, nil
				}
				v, err := value(ctx, i-1)
				return v + 1, err
			})
		}
		got, err := value(ctx, len(cells)-1)
		wantResult(t, got, err, len(cells))
	})
}

// A task that waits for a promise that a cycle has failed goes on, though the function of the
// promise still waits for results that only this task can supply.
func TestOnceFailsBeforeItsFunctionEnds(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		var first, second Once[int]
		var firstOf func(ctx context.Context) (int, error)
		resolver, later := NewPromise[int](ctx, "later")
		secondOf := func(ctx context.Context) (int, error) {
			_, err := first.Do(ctx, "first", firstOf)
			_ = wantCycle(t, err, "first", "second")
			got, err := later.Await(ctx)
			wantResult(t, got, err, 1)
			return 1, nil
		}
		firstOf = func(ctx context.Context) (int, error) {
			_, err := second.Do(ctx, "second", secondOf)
			_ = wantCycle(t, err, "first", "second")
			return later.Await(ctx)
		}
		_, err := first.Do(ctx, "first", firstOf)
		_ = wantCycle(t, err, "first", "second")
		resolver.Resolve(ctx, 1, nil)
	})
}
