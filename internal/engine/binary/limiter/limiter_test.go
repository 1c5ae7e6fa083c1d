// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package limiter

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var limit Limiter
		limit.Raise(2)
		limit.Raise(1) // which lowers nothing
		var running, most atomic.Int64
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				release, err := limit.Acquire(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), running.Add(1)))
				<-time.After(time.Second) // of the bubble
				running.Add(-1)
				release()
			})
		}
		began := time.Now()
		all.Wait()
		if took := time.Since(began); most.Load() != 2 || took != 5*time.Second {
			t.Errorf("%d at the same time, %s in all; want 2, and 5s", most.Load(), took)
		}
	})
}

func TestRaise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var limit Limiter
		var got atomic.Int64
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := limit.Acquire(t.Context()); err == nil {
					got.Add(1)
				}
			})
		}
		for _, want := range []int64{0, 1, 3} {
			limit.Raise(int(want))
			synctest.Wait()
			if got.Load() != want {
				t.Errorf("with a limit of %d, %d have a place", want, got.Load())
			}
		}
		all.Wait()
	})
}

// A caller that no longer waits takes no place from the others.
func TestWaitIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var limit Limiter
		limit.Raise(1)
		release, err := limit.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := limit.Acquire(ctx); !errors.Is(err, stop) {
				t.Errorf("Acquire = %v, want %v", err, stop)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if _, err := limit.Acquire(t.Context()); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		cancel(stop)
		synctest.Wait()
		release()
		all.Wait()
		if _, err := limit.Acquire(ctx); !errors.Is(err, stop) {
			t.Errorf("Acquire after the end = %v, want %v", err, stop)
		}
	})
}

func BenchmarkLimiter(b *testing.B) {
	var limit Limiter
	limit.Raise(1)
	for b.Loop() {
		release, err := limit.Acquire(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		release()
	}
}
