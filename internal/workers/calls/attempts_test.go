// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package calls

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/workers/queue"
)

// changing is the call of most tests as one that may change something.
var changing = func() Call {
	c := testCall
	c.Changes = true
	return c
}()

// dying has a worker lose its records, as one does whose machine is cut off.
func (r *rig) dying(w *Worker) (die func()) {
	own := &faulty{Store: r.store}
	w.Records = own
	return func() { own.fail(func(string, string) error { return errAway }, nil) }
}

// Another attempt begins when the worker of the first one is lost, and takes its place (rule C5).
func TestAttemptAfterLostWorker(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		var die func()
		const alive = 10 * time.Minute
		died, release := time.Now().Add(alive), make(chan struct{})
		first := r.worker("a", func(ctx context.Context, work *Work) ([]byte, error) {
			if err := work.Keep(ctx, []byte("begun")); err != nil {
				t.Error(err)
			}
			pass(alive)
			die()
			<-release
			if err := work.Keep(ctx, []byte("alive after all")); err == nil {
				t.Error("Keep succeeds after the attempt was closed")
			}
			return []byte("late"), nil
		})
		die = r.dying(first)
		second := r.worker("b", func(_ context.Context, work *Work) ([]byte, error) {
			if waited := time.Since(died); waited < deathTime-signTime || waited > deathTime+signTime+2*patience {
				t.Errorf("another attempt began %s after the death", waited)
			}
			if len(work.Before) != 1 || work.Before[0].Worker != "a" {
				t.Errorf("the handler is told of %+v, want the attempt of a", work.Before)
			}
			work.Say([]byte("begun anew"))
			return []byte("done"), nil
		})
		q := &redelivery{workers: []*Worker{first, second}}
		r.queue = q
		got, err := r.client().Do(t.Context(), changing, r.hear)
		if err != nil || string(got.Body) != "done" || got.Worker != "b" {
			t.Errorf("Do = %+v, error %v; want the answer of b", got, err)
		}
		r.wantSaid("1 begun", "2 begun anew")

		first.Records.(*faulty).fail(nil, nil) //nolint:forcetypeassert // see dying
		close(release)
		q.over.Wait()
		again := r.client()
		again.Again = true
		r.wantAnswer(again, "done", "b")
	})
}

// An answer reaches the caller also while the queue is away.
func TestAnsweredWhileTheQueueIsAway(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		r.queue = absent{worker: r.worker("a", func(context.Context, *Work) ([]byte, error) {
			pass(time.Hour)
			return []byte("done"), nil
		})}
		began := time.Now()
		r.wantAnswer(r.client(), "done", "a")
		if took := time.Since(began); took > time.Hour+2*reportTime {
			t.Errorf("it took %s, want an hour", took)
		}
	})
}

// absent is a queue that gives a task to a worker and is away then.
type absent struct {
	queue.Queue
	worker *Worker
}

func (q absent) Do(ctx context.Context, task queue.Task) error {
	go func() { // ends with the handler
		_ = q.worker.take(context.WithoutCancel(ctx), task, nil) // the queue gets no word of it
	}()
	<-ctx.Done()
	if errors.Is(context.Cause(ctx), queue.ErrAnswered) {
		return nil
	}
	return context.Cause(ctx)
}

// Somebody is told, once, of a call that no worker takes.
func TestWaiting(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		var told []string
		c := r.client()
		c.Waiting = func(call Call) { told = append(told, call.Name) }
		var calling sync.WaitGroup
		calling.Go(func() { r.wantAnswer(c, "done", "a") })
		pass(10 * waitTime)
		r.serve(r.worker("a", func(context.Context, *Work) ([]byte, error) {
			pass(10 * waitTime)
			return []byte("done"), nil
		}))
		calling.Wait()
		other := testCall
		other.Name = "unit/taken"
		if _, err := c.Do(t.Context(), other, nil); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{testCall.Name}, told); diff != "" {
			t.Errorf("calls that wait (-want +got):\n%s", diff)
		}
	})
}

// A call is taken over without being begun (rule C6).
func TestTakeOver(t *testing.T) {
	takeOver := func(r *rig, worker, body string, want error) {
		r.Helper()
		got, err := r.client().TakeOver(r.Context(), testCall, r.hear)
		if !errors.Is(err, want) || string(got.Body) != body || got.Worker != worker {
			r.Errorf("TakeOver = %+v, error %v; want %q of %q, error %v", got, err, body, worker, want)
		}
	}
	begin := func(r *rig) {
		r.Helper()
		for range 2 { // by two programs
			if err := r.client().Begin(r.Context()); err != nil {
				r.Fatal(err)
			}
		}
	}
	t.Run("forgotten", func(t *testing.T) {
		test(t, func(_ *testing.T, r *rig) { takeOver(r, "", "", ErrForgotten) })
	})
	t.Run("not begun", func(t *testing.T) {
		test(t, func(t *testing.T, r *rig) {
			begin(r)
			takeOver(r, "", "", ErrNotBegun)
			takeOver(r, "", "", ErrNotBegun)
			// Nor is it begun by who asks for it later.
			r.serve(r.worker("a", never(t)))
			if _, err := r.client().Do(t.Context(), testCall, nil); !errors.Is(err, ErrNoAnswer) {
				t.Errorf("Do: got error %v, want %v", err, ErrNoAnswer)
			}
		})
	})
	t.Run("not begun, and asked for", func(t *testing.T) {
		test(t, func(t *testing.T, r *rig) {
			begin(r)
			if _, err := r.stopping(time.Minute); !errors.Is(err, queue.ErrStopped) {
				t.Fatal(err)
			}
			takeOver(r, "", "", ErrNotBegun)
		})
	})
	t.Run("running", func(t *testing.T) {
		test(t, func(_ *testing.T, r *rig) {
			begin(r)
			r.serve(r.worker("a", func(_ context.Context, work *Work) ([]byte, error) {
				work.Say([]byte("begun"))
				pass(time.Hour)
				return []byte("done"), nil
			}))
			var calling sync.WaitGroup
			calling.Go(func() {
				if _, err := r.client().Do(r.Context(), testCall, nil); err != nil {
					r.Error(err)
				}
			})
			synctest.Wait()
			takeOver(r, "a", "done", nil)
			calling.Wait()
			r.wantSaid("1 begun")
		})
	})
	t.Run("answered", func(t *testing.T) {
		test(t, func(_ *testing.T, r *rig) {
			w := r.worker("a", answers("done"))
			task, err := r.client().ask(r.Context(), testCall, at)
			if err == nil {
				err = w.take(r.Context(), task, nil)
			}
			if err != nil {
				r.Fatal(err)
			}
			r.queue = nil // which is not asked
			takeOver(r, "a", "done", nil)
		})
	})
}
