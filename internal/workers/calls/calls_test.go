// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package calls

import (
	"bytes"
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

// testCall is the call of most tests.
var testCall = Call{Name: "unit/plan", Pool: testPool, Kind: testKind, Body: []byte("the request")}

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
func (r *rig) hear(attempt int, content []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.said = append(r.mu.said, fmt.Sprintf("%d %s", attempt, content))
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

func TestAnswer(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		r.serve(r.worker("a", func(_ context.Context, work *Work) ([]byte, error) {
			if work.Run != testRun || work.Call != testCall.Name || !bytes.Equal(work.Body, testCall.Body) || work.Before != nil {
				t.Errorf("the handler got %+v", work)
			}
			pass(time.Hour)
			return []byte("done"), nil
		}))
		began := time.Now()
		got := r.wantAnswer(r.client(), "done", "a")
		if !got.Began.Equal(began) || got.Ended.Sub(got.Began) != time.Hour {
			t.Errorf("began at %s and ended at %s, want at %s and an hour later", got.Began, got.Ended, began)
		}
		r.wantSaid()
		r.wantRecords("", "answer", "request", "taken/0001")
	})
}

func TestFailure(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		r.serve(r.worker("a", func(_ context.Context, work *Work) ([]byte, error) {
			work.Say([]byte("beginning"))
			return []byte("half"), errors.New("no disk")
		}))
		got, err := r.client().Do(t.Context(), testCall, r.hear)
		failed, ok := errors.AsType[*FailedError](err)
		if !ok || *failed != (FailedError{"a", "no disk"}) || got.Body != nil {
			t.Errorf("Do = %q, error %v; want the failure of a", got.Body, err)
		}
		r.wantSaid("1 beginning")
	})
}

// Reports come in order: soon in records, and the last ones with the answer.
func TestReports(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		r.serve(r.worker("a", func(ctx context.Context, work *Work) ([]byte, error) {
			work.Say([]byte("one"))
			work.Say([]byte("two"))
			pass(3*reportTime + reportTime/2)
			r.wantSaid("1 one", "1 two")
			work.Say([]byte("three"))
			if err := work.Keep(ctx, []byte("four")); err != nil {
				t.Error(err)
			}
			r.wantRecords(saidFolder, "said/0001/000001", "said/0001/000002")
			work.Say([]byte("five"))
			return nil, nil
		}))
		r.wantAnswer(r.client(), "", "a")
		r.wantSaid("1 one", "1 two", "1 three", "1 four", "1 five")
		r.wantRecords(saidFolder, "said/0001/000001", "said/0001/000002")
	})
}

func TestReportsOfShortCall(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		r.serve(r.worker("a", func(_ context.Context, work *Work) ([]byte, error) {
			work.Say([]byte("one"))
			work.Say([]byte("two"))
			return nil, nil
		}))
		r.wantAnswer(r.client(), "", "a")
		r.wantSaid("1 one", "1 two")
		r.wantRecords(saidFolder)
	})
}

// A record of reports that was written, although its writer got an error, is neither lost nor
// repeated.
func TestReportsWhoseRecordingWasNotKnown(t *testing.T) {
	for name, ends := range map[string]bool{"goes on": false, "ends": true} {
		t.Run(name, func(t *testing.T) {
			test(t, func(t *testing.T, r *rig) {
				r.store.fail(nil, times(1, "put", saidFolder))
				r.serve(r.worker("a", func(ctx context.Context, work *Work) ([]byte, error) {
					if err := work.Keep(ctx, []byte("one")); !errors.Is(err, errAway) {
						t.Errorf("Keep: got error %v, want %v", err, errAway)
					}
					work.Say([]byte("two"))
					if !ends {
						pass(3 * reportTime)
					}
					return nil, nil
				}))
				r.wantAnswer(r.client(), "", "a")
				r.wantSaid("1 one", "1 two")
			})
		})
	}
}

// redelivery is a queue that delivers each task to all workers, one after the other has begun, and
// ends a task with the last one.
type redelivery struct {
	queue.Queue
	workers []*Worker
	over    sync.WaitGroup
}

func (q *redelivery) Do(ctx context.Context, task queue.Task) error {
	last := len(q.workers) - 1
	for _, w := range q.workers[:last] {
		q.over.Go(func() {
			_ = w.take(context.WithoutCancel(ctx), task, nil) // the queue believes that it is dead
		})
		synctest.Wait()
	}
	pass(3 * reportTime) // until the queue believes that
	for {
		err := q.workers[last].take(context.WithoutCancel(ctx), task, nil)
		busy, ok := errors.AsType[*queue.BusyError](err)
		if !ok {
			return err
		}
		pass(busy.Again)
	}
}

// Of two attempts, each with its reports, the first answer counts (rules C1 and C2).
func TestSecondAttempt(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		release := make(chan struct{})
		first := r.worker("a", func(_ context.Context, work *Work) ([]byte, error) {
			work.Say([]byte("begun"))
			<-release
			work.Say([]byte("alive after all"))
			return []byte("late"), nil
		})
		began := time.Now().UTC()
		second := r.worker("b", func(_ context.Context, work *Work) ([]byte, error) {
			want := first.Self
			want.Began = began
			if diff := cmp.Diff([]Attempt{want}, work.Before); diff != "" {
				t.Errorf("attempts before (-want +got):\n%s", diff)
			}
			work.Say([]byte("begun anew"))
			return []byte("done"), nil
		})
		q := &redelivery{workers: []*Worker{first, second}}
		r.queue = q
		r.wantAnswer(r.client(), "done", "b")
		r.wantSaid("1 begun", "2 begun anew")
		close(release)
		q.over.Wait()

		r.mu.said = nil
		r.queue = nil // which is not asked
		again := r.client()
		again.Again = true
		r.wantAnswer(again, "done", "b")
		r.wantSaid("2 begun anew")
		third := r.worker("c", never(t))
		r.queue = &redelivery{workers: []*Worker{third}}
		r.wantAnswer(r.client(), "done", "b")
	})
}

// A worker that was believed dead may answer first.
func TestFirstAttemptAnswersFirst(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		first := r.worker("a", func(_ context.Context, work *Work) ([]byte, error) {
			work.Say([]byte("begun"))
			pass(8 * reportTime)
			work.Say([]byte("ended"))
			return []byte("done"), nil
		})
		second := r.worker("b", func(_ context.Context, work *Work) ([]byte, error) {
			work.Say([]byte("begun anew"))
			pass(16 * reportTime)
			return []byte("too late"), nil
		})
		r.queue = &redelivery{workers: []*Worker{first, second}}
		r.wantAnswer(r.client(), "done", "a")
		// The reports of the attempt that counts are complete at the end.
		r.wantSaid("1 begun", "2 begun anew", "1 begun", "1 ended")
	})
}

// A task that is delivered again to the process in which it runs is joined there.
func TestJoined(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		calls := 0
		w := r.worker("a", func(_ context.Context, work *Work) ([]byte, error) {
			calls++
			<-work.Stop
			return []byte("done"), nil
		})
		task, err := r.client().ask(t.Context(), testCall, at)
		if err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		var delivered sync.WaitGroup
		for _, stop := range []chan struct{}{nil, stop} {
			delivered.Go(func() {
				if err := w.take(t.Context(), task, stop); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		if calls != 1 || w.Running() != 1 {
			t.Errorf("the handler was called %d times, %d run; want once", calls, w.Running())
		}
		close(stop) // of the second delivery
		delivered.Wait()
		if calls != 1 || w.Running() != 0 {
			t.Errorf("the handler was called %d times, %d run; want once, and none", calls, w.Running())
		}
		r.wantRecords(takenFolder, "taken/0001")
	})
}

// Two callers of one call have one answer.
func TestTwoCallers(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		calls := 0
		r.serve(r.worker("a", func(context.Context, *Work) ([]byte, error) {
			calls++
			pass(time.Minute)
			return []byte("done"), nil
		}))
		var asking sync.WaitGroup
		for range 2 {
			asking.Go(func() { r.wantAnswer(r.client(), "done", "a") })
		}
		asking.Wait()
		if calls != 1 {
			t.Errorf("the handler was called %d times, want once", calls)
		}
	})
}

// signed returns a task that somebody has signed.
func signed(t *testing.T, task queue.Task, key envelope.RunKey) queue.Task {
	t.Helper()
	message, err := task.Signed()
	if err != nil {
		t.Fatal(err)
	}
	task.Signature = key.Sign(message)
	return task
}

// A worker takes only what is signed, for its pool and its version, in time (rule C3).
func TestForgedTask(t *testing.T) {
	other := newRunKey(t)
	for name, row := range map[string]struct {
		forge func(r *rig, task queue.Task) queue.Task
		want  queue.Refusal
	}{
		"no signature": {func(_ *rig, task queue.Task) queue.Task {
			task.Signature = nil
			return task
		}, queue.RefusedSignature},
		"signature of somebody else": {func(r *rig, task queue.Task) queue.Task { return signed(r.T, task, other) }, queue.RefusedSignature},
		"signature of another call": {func(_ *rig, task queue.Task) queue.Task {
			task.Call = "unit/apply"
			return task
		}, queue.RefusedSignature},
		"signature of another run": {func(_ *rig, task queue.Task) queue.Task {
			task.Run = "8"
			return task
		}, queue.RefusedSignature},
		"signature of a call without changes": {func(_ *rig, task queue.Task) queue.Task {
			task.Changes = true
			return task
		}, queue.RefusedSignature},
		"later end than signed": {func(_ *rig, task queue.Task) queue.Task {
			task.Expires = task.Expires.Add(time.Hour)
			return task
		}, queue.RefusedSignature},
		"other digest than signed": {func(_ *rig, task queue.Task) queue.Task {
			task.Digest = strings.Repeat("0", len(task.Digest))
			return task
		}, queue.RefusedSignature},
		"signed for another pool": {func(r *rig, task queue.Task) queue.Task {
			task.Pool = "dev"
			return signed(r.T, task, r.run)
		}, queue.RefusedSignature},
		"signed for another version": {func(r *rig, task queue.Task) queue.Task {
			task.Version = "1.2.4"
			return signed(r.T, task, r.run)
		}, queue.RefusedVersion},
		"signed digest of nothing": {func(r *rig, task queue.Task) queue.Task {
			task.Digest = strings.Repeat("0", len(task.Digest))
			return signed(r.T, task, r.run)
		}, queue.RefusedRequest},
		"call without a request": {func(r *rig, task queue.Task) queue.Task {
			task.Call = "unit/apply"
			return signed(r.T, task, r.run)
		}, queue.RefusedRequest},
		"expired": {func(_ *rig, task queue.Task) queue.Task {
			pass(validity + time.Second)
			return task
		}, queue.RefusedExpired},
	} {
		t.Run(name, func(t *testing.T) {
			test(t, func(t *testing.T, r *rig) {
				task, err := r.client().ask(t.Context(), testCall, at)
				if err != nil {
					t.Fatal(err)
				}
				w := r.worker("a", never(t))
				r.wantRefused(w.take(t.Context(), row.forge(r, task), nil), row.want)
				r.wantRecords(takenFolder)
			})
		})
	}
}

// A request that somebody has put in the place of the one that was signed is not carried out.
func TestSwappedRequest(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		task, err := r.client().ask(t.Context(), testCall, at)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.store.Remove(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		other := testCall
		other.Body = []byte("destroy all")
		if _, err := r.client().ask(t.Context(), other, at); err != nil {
			t.Fatal(err)
		}
		r.wantRefused(r.worker("a", never(t)).take(t.Context(), task, nil), queue.RefusedRequest)
	})
}

func TestRequestForOthers(t *testing.T) {
	t.Run("another pool", func(t *testing.T) {
		test(t, func(t *testing.T, r *rig) {
			c := r.client()
			c.Pools[testPool] = envelope.PoolRecipient(newPoolKey(t).Recipient())
			r.serve(r.worker("a", never(t)))
			_, err := c.Do(t.Context(), testCall, nil)
			r.wantRefused(err, queue.RefusedPool)
		})
	})
	t.Run("another kind", func(t *testing.T) {
		test(t, func(t *testing.T, r *rig) {
			r.serve(r.worker("a", never(t)))
			other := testCall
			other.Kind = "unheard of"
			_, err := r.client().Do(t.Context(), other, nil)
			r.wantRefused(err, queue.RefusedVersion)
		})
	})
	t.Run("no pool", func(t *testing.T) {
		test(t, func(t *testing.T, r *rig) {
			other := testCall
			other.Pool = "dev"
			if _, err := r.client().Do(t.Context(), other, nil); err == nil {
				t.Error("Do succeeds for a pool that is not there")
			}
		})
	})
}

// forge records something under a name as somebody without the key of the pool would.
func (r *rig) forge(record string, content any) {
	r.Helper()
	forger := r.worker("forger", nil)
	forger.Key = newPoolKey(r.T)
	forged, err := forger.seal(at+record, content)
	if err == nil {
		err = r.store.Put(r.Context(), at+record, forged)
	}
	if err != nil {
		r.Fatal(err)
	}
}

// An answer of who has not the key of the pool is not believed (rule C4).
func TestForgedAnswer(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		r.forge(answerName, answer{Attempt: 1, Worker: "a", Body: []byte("all is well")})
		r.serve(r.worker("a", answers("fire")))
		got, err := r.client().Do(t.Context(), testCall, r.hear)
		if wrong, ok := errors.AsType[*envelope.Error](err); !ok || wrong.Problem != envelope.ProblemSender || got.Body != nil {
			t.Errorf("Do = %q, error %v; want one about the sender", got.Body, err)
		}
	})
}

// Nor are reports, whose worker gets to know that it cannot report.
func TestForgedReports(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		r.forge(saidRecord(1, 1), [][]byte{[]byte("all is well")})
		r.serve(r.worker("a", func(ctx context.Context, work *Work) ([]byte, error) {
			if err := work.Keep(ctx, []byte("smoke")); err == nil {
				t.Error("Keep succeeds, and its report is not recorded")
			}
			pass(3 * reportTime)
			return []byte("fire"), nil
		}))
		r.wantAnswer(r.client(), "fire", "a")
		r.wantSaid()
	})
}

// Nothing but names and times is in clear (rule C4).
func TestSealed(t *testing.T) {
	const secret = "hunter2"
	test(t, func(t *testing.T, r *rig) {
		r.serve(r.worker("a", func(ctx context.Context, work *Work) ([]byte, error) {
			if err := work.Keep(ctx, []byte(secret)); err != nil {
				t.Error(err)
			}
			work.Say([]byte(secret))
			return nil, errors.New(secret)
		}))
		asked := testCall
		asked.Body = []byte(secret)
		if _, err := r.client().Do(t.Context(), asked, nil); err == nil {
			t.Error("Do succeeds")
		}
		names, err := r.store.List(t.Context(), at)
		if err != nil || len(names) != 4 {
			t.Errorf("List = %s, error %v; want the request, an attempt, reports and an answer", names, err)
		}
		for _, name := range names {
			content, err := r.store.Get(t.Context(), name)
			if err != nil || bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s has a secret, or error %v", name, err)
			}
		}
	})
}

// A worker whose records are away for a time carries a call out when they are back, once, and holds
// its answer until then (trap S4).
func TestRecordsAway(t *testing.T) {
	for name, row := range map[string]struct {
		before, after func(string, string) error
		late          bool // the handler is called after the time
		soon          bool // the caller sees the answer before
	}{
		"reading the request":                {times(3, "get", requestName), nil, true, false},
		"recording the attempt":              {times(3, "put", takenFolder), nil, true, false},
		"attempt recorded with an error":     {nil, times(3, "put", takenFolder), true, false},
		"recording the answer":               {times(3, "put", answerName), nil, false, false},
		"answer recorded with an error":      {nil, times(3, "put", answerName), false, true},
		"reading whether there is an answer": {times(1, "get", answerName), times(1, "put", takenFolder), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			test(t, func(t *testing.T, r *rig) {
				calls, began := 0, time.Now()
				var called time.Duration
				r.serve(r.worker("a", func(_ context.Context, work *Work) ([]byte, error) {
					calls++
					called = time.Since(began)
					if work.Before != nil {
						t.Errorf("the handler is told of %+v, which has done nothing", work.Before)
					}
					return []byte("done"), nil
				}))
				r.store.fail(row.before, row.after)
				r.wantAnswer(r.client(), "done", "a")
				if late := called >= patience; calls != 1 || late != row.late {
					t.Errorf("the handler was called %d times, after %s", calls, called)
				}
				if took := time.Since(began); (took < patience) != row.soon {
					t.Errorf("it took %s, and the time of one repetition is %s", took, patience)
				}
			})
		})
	}
}

// A handler that is busy gets the call again.
func TestBusyHandler(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		calls := 0
		r.serve(r.worker("a", func(_ context.Context, work *Work) ([]byte, error) {
			calls++
			if work.Before != nil {
				t.Errorf("the handler is told of %+v, which has done nothing", work.Before)
			}
			if calls < 3 {
				return nil, &queue.BusyError{Again: time.Minute}
			}
			return []byte("done"), nil
		}))
		began := time.Now()
		r.wantAnswer(r.client(), "done", "a")
		if took := time.Since(began); took != 2*time.Minute {
			t.Errorf("it took %s, want two minutes", took)
		}
	})
}

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

// A worker that drains answers what it has begun.
func TestDrain(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		w := r.worker("a", func(context.Context, *Work) ([]byte, error) {
			pass(time.Hour)
			return []byte("done"), nil
		})
		ctx, drain := context.WithCancel(t.Context())
		var around sync.WaitGroup
		around.Go(func() { r.wantAnswer(r.client(), "done", "a") })
		around.Go(func() {
			if err := w.Serve(ctx, r.queue, 1); err != nil {
				t.Error(err)
			}
			if n := w.Running(); n != 0 {
				t.Errorf("Serve has returned with %d calls", n)
			}
		})
		synctest.Wait()
		drain()
		around.Wait()
	})
}

func TestFetch(t *testing.T) {
	test(t, func(t *testing.T, r *rig) {
		sealed, err := envelope.Seal("runs/7/sources", []byte("files"), envelope.PoolRecipient(r.pool.Recipient()))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.store.Put(t.Context(), "runs/7/sources", sealed); err != nil {
			t.Fatal(err)
		}
		w := r.worker("a", nil)
		if got, err := w.Fetch(t.Context(), "runs/7/sources"); err != nil || string(got) != "files" {
			t.Errorf("Fetch = %q, error %v", got, err)
		}
		if _, err := w.Fetch(t.Context(), "runs/7/other"); !errors.Is(err, records.ErrMissing) {
			t.Errorf("Fetch of nothing: got error %v", err)
		}
	})
}
