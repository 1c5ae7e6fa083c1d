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

	"github.com/cairnstacks/cairn/internal/workers/queue"
)

// stopping calls with a context that ends after a time.
func (r *rig) stopping(after time.Duration) (Answer, error) {
	ctx, stop := context.WithTimeout(r.Context(), after)
	defer stop()
	return r.client().Do(ctx, testCall, r.hear)
}

// A handler that is told to stop still answers, and the caller waits for that (rule C5).
func TestStop(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		r.serve(r.worker("a", func(_ context.Context, work *Work) ([]byte, error) {
			<-work.Stop
			pass(time.Hour)
			select {
			case <-work.Now:
				t.Error("somebody waits, though nobody said so")
			default:
			}
			work.Say([]byte("stopped"))
			return []byte("half"), nil
		}))
		got, err := r.stopping(time.Minute)
		if err != nil || string(got.Body) != "half" || got.Ended.Sub(got.Began) != time.Hour+time.Minute {
			t.Errorf("Do = %+v, error %v; want the answer after the stop", got, err)
		}
		r.wantSaid("1 stopped")
	})
}

func TestStopNow(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		c := r.client()
		var began time.Time
		r.serve(r.worker("a", func(_ context.Context, work *Work) ([]byte, error) {
			began = time.Now()
			// It counts only after the wish to stop.
			for range 2 {
				if err := c.StopNow(t.Context(), testCall.Name); err != nil {
					t.Error(err)
				}
			}
			select {
			case <-work.Now:
				t.Error("now, before anybody has asked to stop")
			case <-work.Stop:
			}
			<-work.Now
			return []byte("ended"), nil
		}))
		got, err := r.stopping(time.Minute)
		if took := got.Ended.Sub(began); err != nil || took > time.Minute+2*reportTime {
			t.Errorf("Do: error %v, after %s; want soon after a minute", err, took)
		}
	})
}

func TestStopAll(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		w := r.worker("a", func(_ context.Context, work *Work) ([]byte, error) {
			<-work.Stop
			return []byte("stopped"), nil
		})
		r.serve(w)
		var calling sync.WaitGroup
		calling.Go(func() { r.wantAnswer(r.client(), "stopped", "a") })
		synctest.Wait()
		w.StopAll()
		calling.Wait()
	})
}

func TestStoppedBeforeItBegan(t *testing.T) {
	for name, after := range map[string]time.Duration{"while it waits": time.Minute, "before it is asked for": 0} {
		t.Run(name, func(t *testing.T) {
			test(t, func(t *testing.T, r *rig) {
				if _, err := r.stopping(after); !errors.Is(err, queue.ErrStopped) {
					t.Errorf("Do: got error %v, want %v", err, queue.ErrStopped)
				}
			})
		})
	}
}

// stopped is a queue that has lost the worker of a task when its caller asks to stop.
type stopped struct {
	queue.Queue
	worker *Worker
}

func (q stopped) Do(ctx context.Context, task queue.Task) error {
	go func() { // ends with the handler
		_ = q.worker.take(context.WithoutCancel(ctx), task, nil) // the queue gets no word of it
	}()
	<-ctx.Done()
	return queue.ErrStopped
}

// What has begun is not said to have been stopped before that.
func TestStoppedAfterItBegan(t *testing.T) {
	t.Run("no answer", func(t *testing.T) {
		test(t, func(t *testing.T, r *rig) {
			release := make(chan struct{})
			defer close(release)
			r.queue = stopped{worker: r.worker("a", func(context.Context, *Work) ([]byte, error) {
				<-release
				return nil, nil
			})}
			_, err := r.stopping(time.Minute)
			if failed, ok := errors.AsType[*FailedError](err); !ok || failed.Worker != "a" {
				t.Errorf("Do: got error %v, want one that names the worker", err)
			}
		})
	})
	t.Run("answer", func(t *testing.T) {
		test(t, func(t *testing.T, r *rig) {
			r.queue = stopped{worker: r.worker("a", answers("done"))}
			got, err := r.stopping(time.Minute)
			if err != nil || string(got.Body) != "done" {
				t.Errorf("Do = %q, error %v; want the answer", got.Body, err)
			}
		})
	})
}

// A worker that may have changed something is waited for while it gives signs of life, although the
// queue has given it up.
func TestGivenUpByTheQueue(t *testing.T) {
	for name, after := range map[string]time.Duration{"soon": time.Second, "late": 10 * deathTime} {
		t.Run(name, func(t *testing.T) {
			test(t, func(t *testing.T, r *rig) {
				r.queue = stopped{worker: r.worker("a", func(context.Context, *Work) ([]byte, error) {
					pass(time.Minute + after)
					return []byte("done"), nil
				})}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				got, err := r.client().Do(ctx, changing, nil)
				if err != nil || string(got.Body) != "done" {
					t.Errorf("Do = %q, error %v; want the answer", got.Body, err)
				}
			})
		})
	}
	t.Run("never", func(t *testing.T) {
		test(t, func(t *testing.T, r *rig) {
			release := make(chan struct{})
			var die func()
			w := r.worker("a", func(context.Context, *Work) ([]byte, error) {
				die()
				<-release
				return nil, nil
			})
			die = r.dying(w)
			r.queue = stopped{worker: w}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begun := time.Now()
			_, err := r.client().Do(ctx, changing, nil)
			if failed, ok := errors.AsType[*FailedError](err); !ok || failed.Worker != "a" {
				t.Errorf("Do: got error %v, want one that names the worker", err)
			}
			if waited := time.Since(begun); waited < time.Minute+deathTime || waited > time.Minute+2*deathTime {
				t.Errorf("Do has waited for %s", waited)
			}
			w.Records.(*faulty).fail(nil, nil) //nolint:forcetypeassert // as dying has set it
			close(release)
		})
	})
}
