// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/cairnstacks/cairn/promising"
)

func wantUnresolved(t *testing.T, err error, names ...string) *UnresolvedError {
	t.Helper()
	unresolved, ok := errors.AsType[*UnresolvedError](err)
	if !ok {
		t.Fatalf("error = %v, want an UnresolvedError", err)
	}
	if got := unresolved.Names(); !slices.Equal(got, names) {
		t.Errorf("UnresolvedError names %q, want %q", got, names)
	}
	return unresolved
}

func TestRow276MainTaskLeavesPromises(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gets []PromiseGet[int]
		leave := func(ctx context.Context) {
			for _, name := range []string{"b", "a", ""} {
				_, get := NewPromise[int](ctx, name)
				gets = append(gets, get)
			}
			r, _ := NewPromise[int](ctx, "resolved")
			r.Resolve(ctx, 1, nil)
		}
		got, err := MainTask(t.Context(), func(ctx context.Context) (int, error) {
			leave(ctx)
			return 3, nil
		})
		if got != 0 {
			t.Errorf("MainTask() = %v, want the zero value", got)
		}
		left := wantUnresolved(t, err, "b", "a", "(...)")
		if want := "task ended without resolving b, a, (...)"; err.Error() != want {
			t.Errorf("message %q, want %q", err, want)
		}
		for i, get := range gets {
			if left.IDs[i] != get.PromiseID() {
				t.Errorf("id %d is not that of promise %d", i, i)
			}
			if _, waiterErr := MainTask(t.Context(), get.Await); waiterErr != err {
				t.Errorf("waiter got %v, want the error of MainTask", waiterErr)
			}
		}

		own := errors.New("own")
		if _, err := MainTask(t.Context(), func(ctx context.Context) (int, error) {
			leave(ctx)
			return 0, own
		}); err != own {
			t.Errorf("MainTask() error = %v, want the function's own", err)
		}
	})
}

func TestRow278AsyncTaskLeavesPromise(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		resolver, get := NewPromise[int](ctx, "forgotten")
		AsyncTask(ctx, resolver, func(context.Context, PromiseResolver[int]) {})
		_, err := get.Await(ctx)
		left := wantUnresolved(t, err, "forgotten")
		if left.Panic != nil || left.Goexit {
			t.Errorf("got %+v, want an ordinary end", left)
		}
		if !slices.Equal(left.IDs, []PromiseID{get.PromiseID()}) {
			t.Errorf("ids %v, want that of the promise", left.IDs)
		}
	})
}

func TestLateResolveOfFailedPromiseIsIgnored(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		resolver, get := NewPromise[int](ctx, "p")
		proceed, done := make(chan none), make(chan none)
		AsyncTask(ctx, resolver, func(ctx context.Context, r PromiseResolver[int]) {
			go func() {
				defer close(done)
				<-proceed
				r.Resolve(ctx, 1, nil)
			}()
		})
		_, err := get.Await(ctx)
		_ = wantUnresolved(t, err, "p")
		close(proceed)
		<-done
		_, again := get.Await(ctx)
		if again != err {
			t.Errorf("second Await: %v, want the first error", again)
		}
	})
}

func TestGoexitFailsPromises(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		resolver, get := NewPromise[int](ctx, "p")
		AsyncTask(ctx, resolver, func(context.Context, PromiseResolver[int]) { runtime.Goexit() })
		_, err := get.Await(ctx)
		left := wantUnresolved(t, err, "p")
		if !left.Goexit || left.Panic != nil {
			t.Errorf("got %+v, want Goexit", left)
		}
		if want := "task ended by runtime.Goexit without resolving p"; err.Error() != want {
			t.Errorf("message %q, want %q", err, want)
		}
	})
}

func TestGoexitInMainTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gets := make(chan PromiseGet[int], 1)
		go func() {
			_, _ = MainTask(t.Context(), func(ctx context.Context) (none, error) {
				_, get := NewPromise[int](ctx, "p")
				gets <- get
				runtime.Goexit()
				return none{}, nil
			})
			t.Error("runtime.Goexit did not end the goroutine")
		}()
		get := <-gets
		_, err := MainTask(t.Context(), get.Await)
		if left := wantUnresolved(t, err, "p"); !left.Goexit {
			t.Errorf("got %+v, want Goexit", left)
		}
	})
}

func TestPanicInMainTaskReachesCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var get PromiseGet[int]
		mustPanic(t, "boom", func() {
			_, _ = MainTask(t.Context(), func(ctx context.Context) (none, error) {
				_, get = NewPromise[int](ctx, "p")
				panic("boom")
			})
		})
		_, err := MainTask(t.Context(), get.Await)
		left := wantUnresolved(t, err, "p")
		if left.Panic != "boom" || !strings.Contains(string(left.Stack), "TestPanicInMainTaskReachesCaller") {
			t.Errorf("got panic %v with stack\n%s", left.Panic, left.Stack)
		}
		if want := "task panicked (boom) without resolving p"; err.Error() != want {
			t.Errorf("message %q, want %q", err, want)
		}
	})
}

func TestPanicHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handled := make(chan *UnresolvedError, 1)
		ctx := WithPanicHandler(t.Context(), func(err *UnresolvedError) { handled <- err })
		_, err := MainTask(ctx, func(ctx context.Context) (none, error) {
			resolver, get := NewPromise[int](ctx, "p")
			AsyncTask(ctx, resolver, func(context.Context, PromiseResolver[int]) { panic("boom") })
			_, err := get.Await(ctx)
			left := wantUnresolved(t, err, "p")
			if left.Panic != "boom" || !strings.Contains(string(left.Stack), "TestPanicHandler") {
				t.Errorf("got panic %v with stack\n%s", left.Panic, left.Stack)
			}
			if got := <-handled; got != left {
				t.Errorf("handler got %v, want the error of the waiters", got)
			}

			// Nothing left unresolved, and a task of a task.
			AsyncTask(ctx, NoPromises, func(ctx context.Context, _ PromiseContainer) {
				AsyncTask(ctx, NoPromises, func(context.Context, PromiseContainer) { panic("again") })
			})
			got := <-handled
			if got.Panic != "again" || len(got.IDs) != 0 || got.Error() != "task panicked (again)" {
				t.Errorf("handler got %v", got)
			}

			var once Once[int]
			_, err = once.Do(ctx, "memo", func(context.Context) (int, error) { panic("in once") })
			if left := wantUnresolved(t, err, "memo"); left.Panic != "in once" || <-handled != left {
				t.Errorf("Once.Do() error = %v", err)
			}
			return none{}, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// Whoever is woken by the end of a panicked task finds the panic handled.
func TestPanicIsHandledBeforeAnybodyWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handled := false // without a lock: the wake-up orders it
		ctx := WithPanicHandler(t.Context(), func(*UnresolvedError) {
			synctest.Wait() // everybody else blocks, or has gone ahead
			handled = true
		})
		_, err := MainTask(ctx, func(ctx context.Context) (none, error) {
			resolver, get := NewPromise[int](ctx, "p")
			AsyncTask(ctx, resolver, func(context.Context, PromiseResolver[int]) { panic("boom") })
			_, err := get.Await(ctx)
			_ = wantUnresolved(t, err, "p")
			if !handled {
				t.Error("Await returned before the handler")
			}

			handled = false
			var once Once[int]
			_, err = once.Do(ctx, "memo", func(context.Context) (int, error) { panic("in once") })
			_ = wantUnresolved(t, err, "memo")
			if !handled {
				t.Error("Once.Do returned before the handler")
			}

			handled = false
			var group Group
			group.Go(ctx, func(ctx context.Context) {
				group.Go(ctx, func(context.Context) { panic("in a group") })
			})
			group.Wait()
			if !handled {
				t.Error("Group.Wait returned before the handler")
			}
			return none{}, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A handler that panics crashes the program; one that ends its goroutine strands nobody.
func TestPanicHandlerEndsGoroutine(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		ctx = WithPanicHandler(ctx, func(*UnresolvedError) { runtime.Goexit() })
		_, err := MainTask(ctx, func(ctx context.Context) (int, error) {
			resolver, get := NewPromise[int](ctx, "p")
			AsyncTask(ctx, resolver, func(context.Context, PromiseResolver[int]) { panic("boom") })
			return get.Await(ctx)
		})
		_ = wantUnresolved(t, err, "p")
	})
}

func TestGroupWaitsForAllItsTasks(t *testing.T) {
	inTask(t, func(t *testing.T, ctx context.Context) {
		var group Group
		var ended atomic.Int32
		proceed := make(chan none)
		for range 3 {
			group.Go(ctx, func(ctx context.Context) {
				group.Go(ctx, func(ctx context.Context) {
					<-proceed
					r, get := NewPromise[int](ctx, "p") // that it is a task of its own
					r.Resolve(ctx, 1, nil)
					if got, err := get.Await(ctx); got != 1 || err != nil {
						t.Errorf("Await() = %v, %v; want 1", got, err)
					}
					ended.Add(1)
				})
				ended.Add(1)
				runtime.Goexit()
			})
		}
		close(proceed)
		group.Wait()
		if got := ended.Load(); got != 6 {
			t.Errorf("%d tasks had ended when Wait returned, want 6", got)
		}
	})
}

// Without a handler the program crashes, whoever waits for the task and would end the program.
func TestPanicWithoutHandlerCrashes(t *testing.T) {
	const marker = "CAIRN_PROMISING_CRASH"
	waits := map[string]func(ctx context.Context){
		"nobody": func(ctx context.Context) {
			AsyncTask(ctx, NoPromises, func(context.Context, PromiseContainer) { crashHere() })
			select {}
		},
		"await": func(ctx context.Context) {
			resolver, get := NewPromise[int](ctx, "p")
			AsyncTask(ctx, resolver, func(context.Context, PromiseResolver[int]) { crashHere() })
			_, _ = get.Await(ctx)
		},
		"once": func(ctx context.Context) {
			var once Once[int]
			_, _ = once.Do(ctx, "memo", func(context.Context) (int, error) { crashHere(); return 0, nil })
		},
		"group": func(ctx context.Context) {
			var group Group
			group.Go(ctx, func(context.Context) { crashHere() })
			group.Wait()
		},
	}
	if how := os.Getenv(marker); how != "" {
		_, _ = MainTask(t.Context(), func(ctx context.Context) (none, error) {
			waits[how](ctx)
			os.Exit(0)
			return none{}, nil
		})
		return
	}
	for how := range waits {
		t.Run(how, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for range 20 { // of those who could go ahead, not each does each time
				cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestPanicWithoutHandlerCrashes$")
				cmd.Env = append(os.Environ(), marker+"="+how)
				out, err := cmd.CombinedOutput()
				if _, ok := errors.AsType[*exec.ExitError](err); !ok {
					t.Fatalf("program ended with %v, want a crash; output:\n%s", err, out)
				}
				for _, want := range []string{"panic: lost and found", "crashHere"} {
					if !strings.Contains(string(out), want) {
						t.Fatalf("no %q in the output:\n%s", want, out)
					}
				}
			}
		})
	}
}

func crashHere() { panic("lost and found") }
