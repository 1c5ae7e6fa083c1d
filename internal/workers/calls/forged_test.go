// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package calls

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/queue"
)

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
