// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package calls_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/queue/memory"
	"github.com/cairnstacks/cairn/internal/workers/records"
)

// twice has a call delivered to two workers, as a queue does that takes the first one for dead:
// each of them has a queue of its own, with the same records.
type twice struct {
	t       *testing.T
	records records.Store
	run     envelope.RunKey
	pool    envelope.PoolKey
	heard   chan string // reports, as they are passed on; nil for none
}

func newTwice(t *testing.T) *twice {
	t.Helper()
	run, err := envelope.NewRunKey()
	if err != nil {
		t.Fatal(err)
	}
	pool, err := envelope.NewPoolKey()
	if err != nil {
		t.Fatal(err)
	}
	return &twice{t: t, records: records.InMemory(), run: run, pool: pool}
}

// deliver gives the call to a worker of its own, until the end of the test, and returns what
// becomes of it.
func (w *twice) deliver(name string, handle calls.Handler) <-chan ended {
	q := &memory.Queue{}
	worker := &calls.Worker{
		Records: w.records, Key: w.pool, Trusted: w.run.Public(), Version: "test",
		Self:     calls.Attempt{Worker: name, Pool: "pool", Process: name},
		Handlers: map[string]calls.Handler{"kind": handle},
	}
	serving, end := context.WithCancel(context.Background())
	w.t.Cleanup(end)
	go worker.Serve(serving, q, 1) //nolint:errcheck // this queue has no errors
	client := &calls.Client{
		Queue: q, Records: w.records, Key: w.run, Run: "run", Version: "test",
		Pools: map[string]envelope.PoolRecipient{"pool": envelope.PoolRecipient(w.pool.Recipient())},
	}
	got := make(chan ended, 1)
	go func() {
		var said []string
		call := calls.Call{Name: "call", Pool: "pool", Kind: "kind", Changes: true, Body: []byte("x")}
		answer, err := client.Do(context.Background(), call, func(_ int, reports [][]byte) {
			for _, content := range reports {
				said = append(said, string(content))
				if w.heard != nil {
					w.heard <- string(content)
				}
			}
		})
		got <- ended{string(answer.Body), answer.Worker, said, err}
	}()
	return got
}

// freezing has the workers from now on write through records that stop. Freeze reports an
// intention, and then writes nothing until thaw is called.
func (w *twice) freezing() (freeze func(context.Context, *calls.Work), thaw func()) {
	frozen, signs := make(chan struct{}), &stopping{Store: w.records}
	w.records = signs
	return func(ctx context.Context, work *calls.Work) {
		if err := work.Keep(ctx, []byte("intention")); err != nil {
			w.t.Error(err)
		}
		signs.stop()
		<-frozen
		signs.goOn()
	}, func() { close(frozen) }
}

// ended is the end of a call.
type ended struct {
	body, worker string
	said         []string
	err          error
}

// The worker of a call that may change something is lost when it gives no sign of life. Then its
// reports are closed, and it can report nothing more; the other one is told of it.
func TestLostWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTwice(t)
		all, thawed := w.records, make(chan error, 1)
		freeze, thaw := w.freezing()
		first := w.deliver("first", func(ctx context.Context, work *calls.Work) ([]byte, error) {
			freeze(ctx, work)
			thawed <- work.Keep(ctx, []byte("another intention"))
			return []byte("of the first"), nil
		})
		synctest.Wait()
		w.records = all
		began := time.Now()
		second := w.deliver("second", func(_ context.Context, work *calls.Work) ([]byte, error) {
			if len(work.Before) != 1 || work.Before[0].Worker != "first" {
				t.Errorf("the second worker was told of %v before it", work.Before)
			}
			return nil, calls.ErrLost
		})
		end := <-second
		if waited := time.Since(began); waited < time.Minute {
			t.Errorf("the first worker was lost after %s", waited)
		}
		if !errors.Is(end.err, calls.ErrLost) || !slices.Equal(end.said, []string{"intention"}) {
			t.Errorf("got %v with the reports %q, want that the worker was lost with its first report", end.err, end.said)
		}
		thaw()
		if err := <-thawed; err == nil {
			t.Error("the lost worker could report an intention")
		}
		if end := <-first; !errors.Is(end.err, calls.ErrLost) {
			t.Errorf("the caller of the lost worker got %q and %v, want the answer that was recorded first", end.body, end.err)
		}
	})
}

// The reports of the worker that goes on in place of a lost one are passed on while it works.
func TestReportsAfterLostWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTwice(t)
		all := w.records
		freeze, thaw := w.freezing()
		first := w.deliver("first", func(ctx context.Context, work *calls.Work) ([]byte, error) {
			freeze(ctx, work)
			return nil, nil
		})
		synctest.Wait()
		w.records, w.heard = all, make(chan string, 10)
		heard := make(chan struct{})
		second := w.deliver("second", func(ctx context.Context, work *calls.Work) ([]byte, error) {
			if err := work.Keep(ctx, []byte("of the second")); err != nil {
				t.Error(err)
			}
			<-heard
			return nil, nil
		})
		for said, late := "", time.After(time.Hour); said != "of the second"; {
			select {
			case said = <-w.heard:
			case <-late:
				t.Error("the report of the second worker is not passed on")
				said = "of the second"
			}
		}
		close(heard)
		of := []ended{<-second}
		thaw()
		for _, end := range append(of, <-first) {
			if end.err != nil || end.worker != "second" {
				t.Errorf("got the answer of %q and error %v, want that of the second", end.worker, end.err)
			}
		}
	})
}

// A worker that gives signs of life is not lost, however long it works.
func TestLivingWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTwice(t)
		first := w.deliver("first", func(ctx context.Context, work *calls.Work) ([]byte, error) {
			<-time.After(time.Hour)
			return []byte("of the first"), work.Keep(ctx, []byte("done"))
		})
		synctest.Wait()
		second := w.deliver("second", func(context.Context, *calls.Work) ([]byte, error) {
			t.Error("the call was carried out again")
			return nil, nil
		})
		for _, end := range []ended{<-first, <-second} {
			if end.err != nil || end.body != "of the first" || end.worker != "first" {
				t.Errorf("got %q of %s and %v, want the answer of the first worker", end.body, end.worker, end.err)
			}
		}
	})
}

// stopping is a store that is away for a time.
type stopping struct {
	records.Store
	mu   sync.Mutex
	away chan struct{} // nil while it is there
}

func (s *stopping) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = make(chan struct{})
}

func (s *stopping) goOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.away)
	s.away = nil
}

// Put implements [records.Store].
func (s *stopping) Put(ctx context.Context, name string, content []byte) error {
	s.mu.Lock()
	away := s.away
	s.mu.Unlock()
	if away != nil {
		<-away
	}
	return s.Store.Put(ctx, name, content)
}

// A handler that panics fails its call, and nothing else.
func TestPanic(t *testing.T) {
	w := newTwice(t)
	end := <-w.deliver("worker", func(context.Context, *calls.Work) ([]byte, error) { panic("a bug") })
	failed, ok := errors.AsType[*calls.FailedError](end.err)
	if !ok || !strings.Contains(failed.Text, "a bug") || failed.Worker != "worker" {
		t.Errorf("got %v, want the failure of the worker", end.err)
	}
}
