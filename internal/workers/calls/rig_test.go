// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package calls

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/queue"
	"github.com/cairnstacks/cairn/internal/workers/queue/memory"
	"github.com/cairnstacks/cairn/internal/workers/records"
)

const (
	testPool    = "prod"
	testRun     = "7"
	testVersion = "1.2.3"
	testKind    = "test"
)

// testCall is the call of most tests. Names of components may have escaped characters.
var testCall = Call{Name: "unit/plan%5B1%5D", Pool: testPool, Kind: testKind, Body: []byte("the request")}

// at is the folder of its records.
var at = folder(testRun, testCall.Name)

// rig has both ends of calls, with records in memory.
type rig struct {
	*testing.T
	store *faulty
	queue queue.Queue
	run   envelope.RunKey
	pool  envelope.PoolKey

	mu struct {
		sync.Mutex
		said []string // by workers, as the caller got it
	}
}

// test runs a test in a bubble with virtual time.
func test(t *testing.T, do func(*testing.T, *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		do(t, &rig{T: t, store: &faulty{Store: records.InMemory()}, queue: &memory.Queue{}, run: newRunKey(t), pool: newPoolKey(t)})
	})
}

// pass has virtual time pass.
func pass(duration time.Duration) { <-time.After(duration) }

func newRunKey(t *testing.T) envelope.RunKey {
	t.Helper()
	key, err := envelope.NewRunKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newPoolKey(t *testing.T) envelope.PoolKey {
	t.Helper()
	key, err := envelope.NewPoolKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (r *rig) client() *Client {
	return &Client{
		Queue: r.queue, Records: r.store, Key: r.run, Run: testRun, Version: testVersion,
		Pools: map[string]envelope.PoolRecipient{testPool: envelope.PoolRecipient(r.pool.Recipient())},
	}
}

func (r *rig) worker(name string, handle Handler) *Worker {
	return &Worker{
		Records: r.store, Key: r.pool, Trusted: r.run.Public(), Version: testVersion,
		Self:     Attempt{Worker: name, Host: "host of " + name, PID: 1, Pool: testPool, Process: "process of " + name},
		Handlers: map[string]Handler{testKind: handle},
	}
}

// serve has a worker take calls until the test ends.
func (r *rig) serve(w *Worker) {
	ctx, drain := context.WithCancel(r.Context())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := w.Serve(ctx, r.queue, 4); err != nil {
			r.Errorf("Serve: %v", err)
		}
	})
	r.Cleanup(func() {
		drain()
		serving.Wait()
	})
}

// hear is a [Reports].
func (r *rig) hear(attempt int, reports [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, content := range reports {
		r.mu.said = append(r.mu.said, fmt.Sprintf("%d %s", attempt, content))
	}
}

func (r *rig) wantSaid(want ...string) {
	r.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(want, r.mu.said); diff != "" {
		r.Errorf("reports (-want +got):\n%s", diff)
	}
}

func (r *rig) wantAnswer(c *Client, want, worker string) Answer {
	r.Helper()
	got, err := c.Do(r.Context(), testCall, r.hear)
	if err != nil || string(got.Body) != want || got.Worker != worker {
		r.Errorf("Do = %q of %q, error %v; want %q of %q", got.Body, got.Worker, err, want, worker)
	}
	return got
}

func (r *rig) wantRefused(err error, want queue.Refusal) {
	r.Helper()
	if refused, ok := errors.AsType[*queue.RefusedError](err); !ok || refused.Reason != want || refused.Worker != "a" {
		r.Errorf("got error %v, want the refusal %s of a", err, want)
	}
}

func (r *rig) wantRecords(folder string, want ...string) {
	r.Helper()
	got, err := r.store.List(r.Context(), at+folder)
	if err != nil {
		r.Error(err)
	}
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], at)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("records below %s (-want +got):\n%s", folder, diff)
	}
}

// answers is a handler with an answer.
func answers(body string) Handler {
	return func(context.Context, *Work) ([]byte, error) { return []byte(body), nil }
}

// never is a handler that must not be called.
func never(t *testing.T) Handler {
	return func(context.Context, *Work) ([]byte, error) {
		t.Error("a handler was called")
		return nil, nil
	}
}

// faulty is a store that fails as a test says.
type faulty struct {
	records.Store
	mu struct {
		sync.Mutex
		before, after func(op, name string) error // may be nil; the other one is after the store has done it
	}
}

var errAway = errors.New("the place of records is away")

// fail sets the functions that say which calls fail.
func (f *faulty) fail(before, after func(op, name string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.before, f.mu.after = before, after
}

func (f *faulty) call(op, name string, do func() error) error {
	f.mu.Lock()
	before, after := f.mu.before, f.mu.after
	f.mu.Unlock()
	for _, step := range []func() error{
		func() error { return called(before, op, name) }, do, func() error { return called(after, op, name) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func called(failing func(op, name string) error, op, name string) error {
	if failing == nil {
		return nil
	}
	return failing(op, name)
}

func (f *faulty) Put(ctx context.Context, name string, content []byte) error {
	return f.call("put", name, func() error { return f.Store.Put(ctx, name, content) })
}

func (f *faulty) Get(ctx context.Context, name string) (content []byte, err error) {
	err = f.call("get", name, func() (err error) {
		content, err = f.Store.Get(ctx, name)
		return err
	})
	return content, err
}

func (f *faulty) GetAll(ctx context.Context, all []string) (contents [][]byte, err error) {
	err = f.call("get all", all[0], func() (err error) {
		contents, err = f.Store.GetAll(ctx, all)
		return err
	})
	return contents, err
}

func (f *faulty) List(ctx context.Context, folder string) (names []string, err error) {
	err = f.call("list", folder, func() (err error) {
		names, err = f.Store.List(ctx, folder)
		return err
	})
	return names, err
}

// times returns a function that fails so many calls of an operation on records in a folder.
func times(n int, op, folder string) func(string, string) error {
	var mu sync.Mutex
	return func(called, name string) error {
		mu.Lock()
		defer mu.Unlock()
		if n > 0 && called == op && strings.HasPrefix(name, at+folder) {
			n--
			return errAway
		}
		return nil
	}
}
