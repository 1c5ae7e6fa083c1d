// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package calls

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/queue"
	"github.com/cairnstacks/cairn/internal/workers/records"
)

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

// Reports that cannot be read for a time are passed on later, in their order and once.
func TestReportsAway(t *testing.T) {
	for name, ends := range map[string]bool{"goes on": false, "ends": true} {
		t.Run(name, func(t *testing.T) {
			test(t, func(t *testing.T, r *rig) {
				r.store.fail(times(3, "get all", saidFolder), nil)
				r.serve(r.worker("a", func(ctx context.Context, work *Work) ([]byte, error) {
					for _, report := range []string{"one", "two"} {
						if err := work.Keep(ctx, []byte(report)); err != nil {
							t.Error(err)
						}
					}
					pass(2*reportTime + reportTime/2)
					r.wantSaid()
					if !ends {
						pass(2 * reportTime)
						r.wantSaid("1 one", "1 two")
					}
					work.Say([]byte("three"))
					return nil, nil
				}))
				if !ends {
					r.wantAnswer(r.client(), "", "a")
					r.wantSaid("1 one", "1 two", "1 three")
					return
				}
				if _, err := r.client().Do(t.Context(), testCall, r.hear); !errors.Is(err, errAway) {
					t.Errorf("got error %v, want %v", err, errAway)
				}
				again := r.client()
				again.Again = true
				r.wantAnswer(again, "", "a")
				r.wantSaid("1 one", "1 two", "1 three")
			})
		})
	}
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
