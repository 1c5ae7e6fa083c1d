// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package calls

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/workers/queue"
)

// numbered is the call of most tests as one of many.
func numbered(i int) Call {
	c := testCall
	c.Name = fmt.Sprintf("unit/%d", i)
	return c
}

// Many calls that no worker takes look for one seldom.
func TestLooksOfIdleCalls(t *testing.T) {
	for calls, most := range map[int]int{1: 21, 12: 132, 30: 150, 120: 600} { // in a minute
		t.Run(strconv.Itoa(calls), func(t *testing.T) {
			test(t, func(t *testing.T, r *rig) {
				ctx, stop := context.WithCancel(t.Context())
				c := r.client()
				var calling sync.WaitGroup
				for i := range calls {
					calling.Go(func() {
						one := numbered(i)
						if _, err := c.Do(ctx, one, nil); !errors.Is(err, queue.ErrStopped) {
							t.Errorf("Do: got error %v, want %v", err, queue.ErrStopped)
						}
					})
				}
				pass(time.Minute) // after which all have looked
				var looks atomic.Int64
				r.store.fail(func(op, _ string) error {
					if op == "list" {
						looks.Add(1)
					}
					return nil
				}, nil)
				pass(time.Minute)
				if got := int(looks.Load()); got < calls || got > most {
					t.Errorf("%d calls have looked %d times in a minute, want between %[1]d and %[3]d", calls, got, most)
				}
				stop()
				calling.Wait()
				if left := len(c.idle.mu.calls); left != 0 {
					t.Errorf("%d calls that have ended are among those that no worker has taken", left)
				}
			})
		})
	}
}

// Reports of a call reach the caller soon, also where it has waited among many others.
func TestReportsAfterIdleness(t *testing.T) {
	const calls = 80
	test(t, func(t *testing.T, r *rig) {
		var mu sync.Mutex
		began := map[string]time.Time{}
		r.serve(r.worker("a", func(_ context.Context, work *Work) ([]byte, error) {
			mu.Lock()
			began[work.Call] = time.Now()
			mu.Unlock()
			work.Say([]byte("begun"))
			pass(40 * time.Second)
			return []byte("done"), nil
		}))
		c := r.client()
		var calling sync.WaitGroup
		for i := range calls {
			pass(time.Millisecond) // so that they wait in this order
			calling.Go(func() {
				one := numbered(i)
				said := func(int, [][]byte) {
					mu.Lock()
					defer mu.Unlock()
					if late := time.Since(began[one.Name]); late > 3*reportTime {
						t.Errorf("what the worker says of %s comes after %s", one.Name, late)
					}
				}
				if _, err := c.Do(t.Context(), one, said); err != nil {
					t.Error(err)
				}
			})
		}
		calling.Wait()
	})
}
