// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/cairnstacks/cairn/promising"
)

type none = struct{}

// inTask runs f in the main task of a bubble. A goroutine that is stuck or left
// over at the end fails the test.
func inTask(t *testing.T, f func(t *testing.T, ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		_, err := MainTask(t.Context(), func(ctx context.Context) (none, error) {
			f(t, ctx)
			return none{}, nil
		})
		if err != nil {
			t.Errorf("MainTask() error = %v, want nil", err)
		}
	})
}

// mustPanic runs f and checks that it panics with a text that contains want.
func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		v := recover()
		if v == nil {
			t.Errorf("no panic, want one with %q", want)
		} else if got := fmt.Sprint(v); !strings.Contains(got, want) {
			t.Errorf("panic %q, want one with %q", got, want)
		}
	}()
	f()
}

func wantResult[T comparable](t *testing.T, got T, err error, want T) {
	t.Helper()
	if err != nil || got != want {
		t.Errorf("got (%v, %v), want (%v, nil)", got, err, want)
	}
}

func TestRow274MainTaskReturnsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, err := MainTask(t.Context(), func(context.Context) (string, error) { return "hi", nil })
		wantResult(t, got, err, "hi")

		broken := errors.New("broken")
		got, err = MainTask(t.Context(), func(context.Context) (string, error) { return "hi", broken })
		if got != "hi" || err != broken {
			t.Errorf(`MainTask() = (%q, %v), want ("hi", broken)`, got, err)
		}
	})
}

func TestRow275HandOverAndAwait(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		resolver, get := NewPromise[string](ctx, "greeting")
		AsyncTask(ctx, resolver, func(ctx context.Context, resolver PromiseResolver[string]) {
			resolver.Resolve(ctx, "hello", nil)
		})
		for range 2 {
			got, err := get.Await(ctx)
			wantResult(t, got, err, "hello")
		}
		if resolver.PromiseID() != get.PromiseID() {
			t.Error("resolver and getter disagree about the id")
		}
	})
}

func TestValueAndErrorBothArrive(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		resolver, get := NewPromise[int](ctx, "p")
		broken := errors.New("broken")
		resolver.Resolve(ctx, 7, broken)
		if got, err := get.Await(ctx); got != 7 || err != broken {
			t.Errorf("Await() = (%v, %v), want (7, broken)", got, err)
		}
	})
}

func TestAwaitAfterMainTaskEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		get, err := MainTask(t.Context(), func(ctx context.Context) (PromiseGet[int], error) {
			resolver, get := NewPromise[int](ctx, "late")
			AsyncTask(ctx, resolver, func(ctx context.Context, r PromiseResolver[int]) {
				time.Sleep(time.Hour) // of the bubble's clock
				r.Resolve(ctx, 1, nil)
			})
			return get, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := MainTask(t.Context(), get.Await)
		wantResult(t, got, err, 1)
	})
}

func TestContainers(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		r1, g1 := NewPromise[int](ctx, "one")
		r2, g2 := NewPromise[string](ctx, "two")
		AsyncTask(ctx, PromiseResolverPair[int, string]{r1, r2},
			func(ctx context.Context, p PromiseResolverPair[int, string]) {
				p.Second.Resolve(ctx, "two", nil)
				p.First.Resolve(ctx, 1, nil)
			})
		one, err := g1.Await(ctx)
		wantResult(t, one, err, 1)
		two, err := g2.Await(ctx)
		wantResult(t, two, err, "two")

		var list PromiseResolverList[int]
		var gets []PromiseGet[int]
		for i := range 5 {
			r, g := NewPromise[int](ctx, fmt.Sprint(i))
			list, gets = append(list, r), append(gets, g)
		}
		AsyncTask(ctx, list, func(ctx context.Context, l PromiseResolverList[int]) {
			for i, r := range l {
				r.Resolve(ctx, i*i, nil)
			}
		})
		for i, g := range gets {
			got, err := g.Await(ctx)
			wantResult(t, got, err, i*i)
		}

		ran := make(chan none)
		AsyncTask(ctx, NoPromises, func(context.Context, PromiseContainer) { close(ran) })
		<-ran
	})
}

func TestManyWaiters(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		resolver, get := NewPromise[int](ctx, "p")
		var wg sync.WaitGroup
		for range 100 {
			wg.Add(1)
			AsyncTask(ctx, NoPromises, func(ctx context.Context, _ PromiseContainer) {
				defer wg.Done()
				got, err := get.Await(ctx)
				wantResult(t, got, err, 3)
			})
		}
		synctest.Wait()
		resolver.Resolve(ctx, 3, nil)
		wg.Wait()
	})
}

func TestCancelledContextFreesOnlyTheWaiter(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		resolver, get := NewPromise[int](ctx, "slow")
		enough := errors.New("enough")
		waiting, cancel := context.WithCancelCause(ctx)
		freed := make(chan none)
		AsyncTask(waiting, NoPromises, func(ctx context.Context, _ PromiseContainer) {
			defer close(freed)
			if got, err := get.Await(ctx); err != enough {
				t.Errorf("Await() = (%v, %v), want the cause of the cancellation", got, err)
			}
			if _, err := get.Await(ctx); err != enough {
				t.Errorf("Await() with ended context: error %v, want the cause", err)
			}
			// The same task can wait again, with a context that goes on.
			got, err := get.Await(context.WithoutCancel(ctx))
			wantResult(t, got, err, 5)
			// A result that is there wins over an ended context.
			got, err = get.Await(ctx)
			wantResult(t, got, err, 5)
		})
		synctest.Wait()
		cancel(enough)
		synctest.Wait()
		resolver.Resolve(ctx, 5, nil)
		<-freed
	})
}

func TestTimeoutOfOneAwait(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		resolver, get := NewPromise[int](ctx, "never in time")
		done := make(chan none)
		AsyncTask(ctx, NoPromises, func(ctx context.Context, _ PromiseContainer) {
			defer close(done)
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if _, err := get.Await(short); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Await() error = %v, want deadline exceeded", err)
			}
		})
		<-done
		resolver.Resolve(ctx, 0, nil)
	})
}

func TestMisusePanics(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		outside := t.Context()
		resolver, get := NewPromise[int](ctx, "mine")
		var once Once[int]
		for name, f := range map[string]func(){
			"NewPromise": func() { NewPromise[int](outside, "p") },
			"Resolve":    func() { resolver.Resolve(outside, 1, nil) },
			"Await":      func() { _, _ = get.Await(outside) },
			"AsyncTask":  func() { AsyncTask(outside, NoPromises, func(context.Context, PromiseContainer) {}) },
			"Once.Do": func() {
				_, _ = once.Do(outside, "o", func(context.Context) (int, error) { return 1, nil })
			},
		} {
			mustPanic(t, name+" outside of a task", f)
		}

		stranger := make(chan none)
		AsyncTask(ctx, NoPromises, func(ctx context.Context, _ PromiseContainer) {
			defer close(stranger)
			mustPanic(t, "not the task responsible for promise mine", func() { resolver.Resolve(ctx, 1, nil) })
			mustPanic(t, "not the task responsible for promise mine", func() {
				AsyncTask(ctx, resolver, func(context.Context, PromiseResolver[int]) { t.Error("started") })
			})
		})
		<-stranger

		resolver.Resolve(ctx, 1, nil)
		mustPanic(t, "promise mine is already resolved", func() { resolver.Resolve(ctx, 2, nil) })
		mustPanic(t, "promise mine is already resolved", func() {
			AsyncTask(ctx, resolver, func(context.Context, PromiseResolver[int]) { t.Error("started") })
		})
		got, err := get.Await(ctx)
		wantResult(t, got, err, 1)

		mustPanic(t, "zero PromiseResolver", func() {
			AsyncTask(ctx, PromiseResolver[int]{}, func(context.Context, PromiseResolver[int]) { t.Error("started") })
		})
	})
}

func TestResolveAfterHandOverPanics(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		resolver, get := NewPromise[int](ctx, "given")
		proceed := make(chan none)
		AsyncTask(ctx, resolver, func(ctx context.Context, r PromiseResolver[int]) {
			<-proceed
			r.Resolve(ctx, 1, nil)
		})
		mustPanic(t, "not the task responsible for promise given", func() { resolver.Resolve(ctx, 2, nil) })
		close(proceed)
		got, err := get.Await(ctx)
		wantResult(t, got, err, 1)
	})
}

// A panic half-way through a handover must not strand those already handed over.
func TestFailedHandOverFailsWhatWasMoved(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		resolver, get := NewPromise[int](ctx, "twice")
		mustPanic(t, "not the task responsible for promise twice", func() {
			AsyncTask(ctx, PromiseResolverList[int]{resolver, resolver},
				func(context.Context, PromiseResolverList[int]) { t.Error("started") })
		})
		_, err := get.Await(ctx)
		_ = wantUnresolved(t, err, "twice")
	})
}

func TestTwoAwaitsInOneTaskPanic(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		r1, g1 := NewPromise[int](ctx, "first")
		r2, g2 := NewPromise[int](ctx, "second")
		proceed, refused, done := make(chan none), make(chan none), make(chan none)
		AsyncTask(ctx, NoPromises, func(ctx context.Context, _ PromiseContainer) {
			defer close(done)
			var wg sync.WaitGroup
			wg.Go(func() {
				got, err := g1.Await(ctx)
				wantResult(t, got, err, 1)
			})
			<-proceed
			mustPanic(t, "awaits promise second while it awaits another", func() { _, _ = g2.Await(ctx) })
			close(refused)
			wg.Wait()
		})
		synctest.Wait()
		close(proceed)
		<-refused
		r1.Resolve(ctx, 1, nil)
		r2.Resolve(ctx, 2, nil)
		<-done
	})
}

func TestEndedTaskMakesNoPromises(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, _ := MainTask(t.Context(), func(ctx context.Context) (context.Context, error) { return ctx, nil })
		mustPanic(t, "made by a task that has ended", func() { NewPromise[int](kept, "orphan") })
	})
}

func TestContextOfTask(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		root := context.WithValue(t.Context(), key{}, "root")
		_, err := MainTask(root, func(ctx context.Context) (none, error) {
			if got := ctx.Value(key{}); got != "root" {
				t.Errorf("value in main task = %v, want root", got)
			}
			if got, want := fmt.Sprint(ctx), fmt.Sprint(root)+".Task"; got != want {
				t.Errorf("context prints as %q, want %q", got, want)
			}
			inner, cancel := context.WithCancel(context.WithValue(ctx, key{}, "inner"))
			defer cancel()
			done := make(chan none)
			AsyncTask(inner, NoPromises, func(ctx context.Context, _ PromiseContainer) {
				defer close(done)
				if got := ctx.Value(key{}); got != "inner" {
					t.Errorf("value in async task = %v, want inner", got)
				}
				cancel()
				if ctx.Err() == nil {
					t.Error("ending of the caller's context does not reach the task")
				}
			})
			<-done
			return none{}, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
