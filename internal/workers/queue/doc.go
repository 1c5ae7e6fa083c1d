// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package queue is the contract of what brings work to the workers of pools.
//
// A [Task] names one call to a worker. A queue starts it on some worker of its pool, tells that to
// stop when the caller asks for it, and says to the caller that it has ended. Requests and answers
// do not go through it: a task is names and digests, and both ends find the rest in the records of
// the run.
//
// Rules:
//
//	Q1. A task is delivered at least once. Equal IDs are the same task, now and after a restart of
//	    any program: who asks for it while it runs is told of the same end.
//	Q2. A handler is told to stop only if the caller has asked for that. A queue that is away, an
//	    attempt that is out of date or a worker that drains does not stop work that has begun.
//	Q3. A queue keeps names, counts and digests. No value, no secret and no text of an error is
//	    passed to it: errors of handlers are one of a few [Refusal] codes.
//	Q4. A caller that waits while the queue is away is told so, and goes on to wait.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Task names a call.
type Task struct {
	Run  string `json:"run"`
	Call string `json:"call"` // unique in the run, with slashes
	Line
	Changes bool      `json:"changes"` // it may change something, and is not done again by anybody while it may go on
	Version string    `json:"version"` // of the program that asks
	Digest  string    `json:"digest"`  // SHA-256 of the request in the records, in hex
	Expires time.Time `json:"expires"` // after which no worker begins it

	// Signature is that of [Task.Signed] by who may start work.
	Signature []byte `json:"signature"`
}

// Line is one of the two lines in which the tasks of a pool wait: those of parts of work have one
// of their own. Work may wait for its parts, in any pool, and parts wait for nothing. As a worker
// has slots of its own for each line, work cannot take the slots that its parts need.
type Line struct {
	Pool  string `json:"pool"`
	Parts bool   `json:"parts,omitempty"`
}

// Lines returns those of a pool.
func Lines(pool string) []Line { return []Line{{Pool: pool}, {Pool: pool, Parts: true}} }

// ID returns the name of the task among those of all runs.
func (t Task) ID() string { return t.Run + "/" + t.Call }

// Signed returns the message that the signature is of: everything else.
func (t Task) Signed() ([]byte, error) {
	t.Signature = nil
	return json.Marshal(t)
}

// Queue brings tasks to workers. All methods are safe for concurrent use.
type Queue interface {
	// Do starts a task, or joins the one with its ID that runs, and returns when a handler has
	// returned nil for it. Ending ctx asks the handler to stop; Do goes on to wait. If ctx ends with
	// the cause [ErrAnswered], Do returns nil at once, and stops nothing.
	//
	// Errors:
	//   - [ErrStopped]: it was asked to stop before any worker had begun.
	//   - [*RefusedError]: the worker that got it does not take it.
	//   - [*DeniedError]
	Do(ctx context.Context, task Task) error

	// Stop asks the handler of a task to stop that somebody else has started, and waits for its end. A
	// task that does not run is not started.
	Stop(ctx context.Context, task Task) error

	// Serve gives tasks of a line to a handler, so many at the same time, until ctx ends. Those which
	// have begun come to their end before it returns.
	//
	// Errors: [*DeniedError].
	Serve(ctx context.Context, line Line, slots int, handle Handler) error

	// Close ends the connection.
	Close()
}

// Handler does a task. Stop is closed when the caller asks for that. It is called again for a task
// of which an earlier call, perhaps on another worker, has not returned (rule Q1).
//
// Errors:
//   - [*BusyError]: to be delivered again later.
//   - [*RefusedError]: not to be delivered again. Any other error counts as one of [RefusedFailed].
type Handler func(task Task, stop <-chan struct{}) error

// BusyError says that a task cannot be done at the moment.
type BusyError struct{ Again time.Duration }

func (e *BusyError) Error() string { return fmt.Sprintf("busy: to be delivered again in %s", e.Again) }

// ErrStopped says that a task was stopped before it had begun.
var ErrStopped = errors.New("stopped before a worker had begun")

// ErrAnswered is the cause with which a caller ends waiting for a task whose answer it has already,
// as it may have while the queue is away.
var ErrAnswered = errors.New("the answer is there")

// Refusal is the reason why a worker does not take a task.
type Refusal string

// The reasons.
const (
	RefusedSignature Refusal = "signature" // of somebody who may not start work, or of another task
	RefusedExpired   Refusal = "expired"
	RefusedVersion   Refusal = "version" // the worker is of another version of this program
	RefusedRequest   Refusal = "request" // it is missing in the records, or not the one that was signed
	RefusedPool      Refusal = "pool"    // the request is sealed for another pool
	RefusedFailed    Refusal = "failed"  // the worker could not record an answer
)

// RefusedError says that a worker does not take a task.
type RefusedError struct {
	Reason Refusal
	Worker string // its name, if that is known
}

func (e *RefusedError) Error() string { return "the worker refuses it: " + string(e.Reason) }

// texts say why workers do not take tasks.
var texts = map[Refusal]string{
	RefusedSignature: "the request is not signed with the key that the worker trusts",
	RefusedExpired:   "the request has waited for too long",
	RefusedVersion:   "it is of another version of cairn",
	RefusedRequest:   "the request is not in the records that the worker uses, or is another one",
	RefusedPool:      "the request is sealed for another key than the worker has",
	RefusedFailed:    "it could not record its answer",
}

// Text says for people who does not take the task, and why.
func (e *RefusedError) Text() string {
	worker := "a worker"
	if e.Worker != "" {
		worker = "the worker " + e.Worker
	}
	return worker + " does not take it: " + texts[e.Reason]
}

// DeniedError says that a queue does not let this program do what it asks for.
type DeniedError struct {
	Place     string // its address
	Namespace string
	Reason    string // a clause without a full stop
	Remedy    string // likewise
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("the queue at %s denies this program its namespace %q: %s; %s", e.Place, e.Namespace, e.Reason, e.Remedy)
}

// Outage says that a queue is away.
type Outage struct {
	Place  string // its address
	Since  time.Time
	Reason string // what the last request has met: a clause without a full stop; empty if that is not known
	Over   bool   // it is back
}
