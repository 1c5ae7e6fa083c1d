// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package once

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

func TestComputedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Map[string, int]
		var computed int
		release := make(chan struct{})
		compute := func() (int, error) {
			computed++ // by one goroutine at a time, or the race detector says so
			<-release
			return 42, nil
		}
		var asking sync.WaitGroup
		for range 8 {
			asking.Go(func() {
				if got, err := m.Get(t.Context(), "a", compute); got != 42 || err != nil {
					t.Errorf("Get = %d, %v", got, err)
				}
			})
		}
		synctest.Wait()
		close(release)
		asking.Wait()
		if _, err := m.Get(t.Context(), "a", compute); err != nil || computed != 1 {
			t.Errorf("computed %d times, %v; want once", computed, err)
		}
		if _, err := m.Get(t.Context(), "b", compute); err != nil || computed != 2 {
			t.Errorf("after another key: computed %d times, %v; want twice", computed, err)
		}
	})
}

// An error is for the caller that has computed: the next in line tries again (rule O2).
func TestErrorsAreNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Map[string, int]
		mine := errors.New("only mine")
		release := make(chan struct{})
		var asking sync.WaitGroup
		asking.Go(func() {
			_, err := m.Get(t.Context(), "a", func() (int, error) { <-release; return 0, mine })
			if !errors.Is(err, mine) {
				t.Errorf("who has computed gets %v, want %v", err, mine)
			}
		})
		synctest.Wait()
		asking.Go(func() {
			if got, err := m.Get(t.Context(), "a", func() (int, error) { return 7, nil }); got != 7 || err != nil {
				t.Errorf("who has waited gets %d, %v; want 7", got, err)
			}
		})
		synctest.Wait()
		close(release)
		asking.Wait()
	})
}

func TestWaitsNoLongerThanItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Map[string, int]
		stop := errors.New("stop")
		release := make(chan struct{})
		var asking sync.WaitGroup
		asking.Go(func() {
			if _, err := m.Get(t.Context(), "a", func() (int, error) { <-release; return 1, nil }); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		asking.Go(func() {
			if _, err := m.Get(ctx, "a", nil); !errors.Is(err, stop) {
				t.Errorf("Get = %v, want %v", err, stop)
			}
		})
		synctest.Wait()
		cancel(stop)
		synctest.Wait()
		close(release)
		asking.Wait()
	})
}

func TestPanicFreesThoseThatWait(t *testing.T) {
	var m Map[string, int]
	func() {
		defer func() { _ = recover() }()
		_, _ = m.Get(t.Context(), "a", func() (int, error) { panic("as a bug would") })
		t.Error("Get has returned")
	}()
	if got, err := m.Get(t.Context(), "a", func() (int, error) { return 7, nil }); got != 7 || err != nil {
		t.Errorf("Get = %d, %v; want 7", got, err)
	}
}

func BenchmarkGet(b *testing.B) {
	var m Map[string, int]
	for b.Loop() {
		if _, err := m.Get(b.Context(), "a", func() (int, error) { return 1, nil }); err != nil {
			b.Fatal(err)
		}
	}
}
