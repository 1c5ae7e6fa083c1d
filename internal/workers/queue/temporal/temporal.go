// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package temporal has a queue that is a Temporal cluster: a task is an activity that a client
// starts, without a workflow.
//
// Task queues are named cairn/POOL, and cairn/POOL/parts for parts of work. The server has to be of
// version 1.31 or later, with activities of their own.
package temporal

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"

	"github.com/cairnstacks/cairn/internal/workers/queue"
)

// Options say where the cluster is, and who this is.
type Options struct {
	Address   string // HOST:PORT
	Namespace string
	TLS       *tls.Config // nil for none
	Identity  string      // of this program, as the cluster shows it

	// Away is called, from any goroutine, when the cluster is away, and when it is back. It may be
	// nil.
	Away func(queue.Outage)

	// Liveness is the time after which an attempt without a sign of life is given to another worker;
	// 0 for the usual one.
	Liveness time.Duration

	// Log receives the messages of the client of the cluster; nil for nobody.
	Log *slog.Logger
}

// The times of activities.
const (
	longest   = 30 * 24 * time.Hour // of one attempt
	heartbeat = time.Second         // between signs of life, which bring the wish to stop back
	firstTry  = time.Second         // until an attempt that has failed is repeated
	lastTry   = 30 * time.Second
	withdraws = 5 * time.Second // for which a cluster is asked to stop a task that it may have
)

// Liveness is the usual value of [Options.Liveness]. Tests that wait for its end make it
// shorter in all their processes, before any queue is opened.
var Liveness = 30 * time.Second

// activityName is the type of all activities.
const activityName = "cairn.call"

// queueOf returns the name of the task queue of a line. Rules of cairn-server about one of a pool
// are also about those below it.
func queueOf(line queue.Line) string {
	name := "cairn/" + line.Pool
	if line.Parts {
		name += "/parts"
	}
	return name
}

// Queue is a [queue.Queue].
type Queue struct {
	client  client.Client
	opts    Options
	noticed *outages
}

var _ queue.Queue = (*Queue)(nil)

// Open returns a queue. The cluster need not be there yet.
func Open(opts Options) (*Queue, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Away == nil {
		opts.Away = func(queue.Outage) {}
	}
	opts.Liveness = cmp.Or(opts.Liveness, Liveness)
	noticed := &outages{place: opts.Address, tell: opts.Away, denied: make(chan struct{})}
	c, err := client.NewLazyClient(client.Options{
		HostPort: opts.Address, Namespace: opts.Namespace, Identity: opts.Identity,
		Logger: log.NewStructuredLogger(opts.Log),
		ConnectionOptions: client.ConnectionOptions{
			TLS: opts.TLS, TLSDisabled: opts.TLS == nil,
			DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(noticed.intercept)},
		},
	})
	if err != nil {
		return nil, err
	}
	return &Queue{c, opts, noticed}, nil
}

// Close implements [queue.Queue].
func (q *Queue) Close() { q.client.Close() }

// Do implements [queue.Queue].
func (q *Queue) Do(ctx context.Context, task queue.Task) error {
	if ctx.Err() != nil && !answered(ctx) {
		return queue.ErrStopped
	}
	d := &doing{Queue: q, task: task}
	for {
		handle, err := d.start(ctx)
		if err == nil {
			err = await(ctx, handle)
		}
		if answered(ctx) {
			return nil
		}
		if !isLost(err) {
			return q.explain(err)
		}
		select {
		case <-time.After(firstTry):
		case <-ctx.Done():
			if d.began && !answered(ctx) { // work that has begun goes on, and is waited for
				<-time.After(firstTry)
			}
		}
	}
}

// answered reports whether the caller waits no more.
func answered(ctx context.Context) bool { return errors.Is(context.Cause(ctx), queue.ErrAnswered) }

// doing is a call of [Queue.Do].
type doing struct {
	*Queue
	task  queue.Task
	began bool // the cluster knows the task
}

// start starts or joins the activity.
func (d *doing) start(ctx context.Context) (client.ActivityHandle, error) {
	waiting := context.WithoutCancel(ctx)
	starting := ctx
	if d.began {
		starting = waiting // an activity that has begun is joined to be told to stop
	}
	handle, err := d.client.ExecuteActivity(starting, client.StartActivityOptions{
		ID: d.task.ID(), TaskQueue: queueOf(d.task.Line),
		StartToCloseTimeout: longest, HeartbeatTimeout: d.opts.Liveness,
		ActivityIDConflictPolicy: enumspb.ACTIVITY_ID_CONFLICT_POLICY_USE_EXISTING,
		// What has been done is known by the records of the run, not by the cluster, which forgets.
		ActivityIDReusePolicy: enumspb.ACTIVITY_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		RetryPolicy:           &temporal.RetryPolicy{InitialInterval: firstTry, BackoffCoefficient: 2, MaximumInterval: lastTry},
	}, activityName, d.task)
	if err != nil && ctx.Err() != nil && !d.began && !answered(ctx) {
		// The cluster may have got the request, although its answer was not waited for, or lost.
		handle = d.client.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: d.task.ID()})
		asking, cancel := context.WithTimeout(waiting, withdraws)
		defer cancel()
		if handle.Cancel(asking, client.CancelActivityOptions{}) != nil {
			return nil, queue.ErrStopped
		}
		err = nil
	}
	d.began = d.began || err == nil
	return handle, err
}

// await waits for the end of an activity, and asks it to stop when the caller asks for that.
func await(ctx context.Context, handle client.ActivityHandle) error {
	waiting := context.WithoutCancel(ctx)
	err := handle.Get(ctx, nil)
	if err != nil && ctx.Err() != nil && !answered(ctx) {
		if err := handle.Cancel(waiting, client.CancelActivityOptions{}); err != nil && !isOver(err) {
			return err
		}
		err = handle.Get(waiting, nil)
	}
	return ended(err)
}

// Stop implements [queue.Queue].
func (q *Queue) Stop(ctx context.Context, task queue.Task) error {
	handle := q.client.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: task.ID()})
	for {
		err := handle.Cancel(ctx, client.CancelActivityOptions{})
		if err == nil {
			err = handle.Get(ctx, nil)
		}
		switch err = ended(err); {
		case isOver(err), errors.Is(err, queue.ErrStopped), as[*queue.RefusedError](err):
			return nil
		case !isLost(err):
			return err
		}
		select {
		case <-time.After(firstTry):
		case <-ctx.Done():
			return err
		}
	}
}

// isOver reports whether something cannot be stopped since it has ended.
func isOver(err error) bool {
	_, missing := errors.AsType[*serviceerror.NotFound](err)
	_, done := errors.AsType[*serviceerror.FailedPrecondition](err)
	return missing || done
}

// ended returns the error of [queue.Queue] for that of an activity. Others are returned as they
// are.
func ended(err error) error {
	if failed, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		refused := &queue.RefusedError{Reason: queue.Refusal(failed.Type())}
		_ = failed.Details(&refused.Worker) //nolint:errcheck // then it stays unknown
		return refused
	}
	// An activity is not attempted again once it was asked to stop: one whose worker is lost has timed
	// out then.
	if as[*temporal.CanceledError](err) || as[*temporal.TimeoutError](err) {
		return queue.ErrStopped
	}
	return err
}

// isLost reports whether a request has failed because the cluster or the way to it is down, or
// because it has lost its data, as one in memory does.
func isLost(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	switch {
	case as[*serviceerror.Unavailable](err), as[*serviceerror.DeadlineExceeded](err), as[*serviceerror.ResourceExhausted](err),
		as[*serviceerror.Internal](err), as[*serviceerror.NotFound](err), as[*serviceerror.Canceled](err):
		return true
	}
	return false
}

// explain returns a [*queue.DeniedError] for one of the cluster that says so.
func (q *Queue) explain(err error) error {
	denied := &queue.DeniedError{Place: q.opts.Address, Namespace: q.opts.Namespace}
	switch {
	case as[*serviceerror.PermissionDenied](err):
		denied.Reason, denied.Remedy = "it has no right to that", `give it the right, or another certificate in the block "tls"`
	case as[*serviceerror.NamespaceNotFound](err):
		denied.Reason, denied.Remedy = "there is none of that name", `register it, or correct the argument "namespace"`
	default:
		return err
	}
	return denied
}

func as[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// Serve implements [queue.Queue].
func (q *Queue) Serve(ctx context.Context, line queue.Line, slots int, handle queue.Handler) error {
	failed := make(chan error, 1)
	stop, err := q.start(ctx, func() worker.Worker { return q.worker(line, slots, handle, failed) })
	if err != nil {
		return q.explain(err)
	}
	defer stop()
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return q.explain(err)
	case <-q.noticed.denied:
		return q.explain(q.noticed.denial)
	}
}

const mostPollers = 4

// worker returns one that gives tasks to a handler, and tells of an error after which it cannot go
// on.
func (q *Queue) worker(line queue.Line, slots int, handle queue.Handler, failed chan<- error) worker.Worker {
	worker.SetBinaryChecksum("cairn") // else the SDK hashes this whole program, which only workflows need
	w := worker.New(q.client, queueOf(line), worker.Options{
		MaxConcurrentActivityExecutionSize: slots,
		MaxConcurrentActivityTaskPollers:   min(slots, mostPollers),
		DisableWorkflowWorker:              true,
		Identity:                           q.opts.Identity,
		WorkerStopTimeout:                  longest, // applies come to their end
		OnFatalError: func(err error) {
			select {
			case failed <- err:
			default:
			}
		},
	})
	w.RegisterActivityWithOptions(func(ctx context.Context, task queue.Task) error {
		return q.serve(ctx, task, handle)
	}, activity.RegisterOptions{Name: activityName})
	return w
}

// start starts a worker as soon as the cluster is there, and returns the function that stops it.
func (q *Queue) start(ctx context.Context, made func() worker.Worker) (stop func(), err error) {
	for {
		w := made() // one that could not start never does
		err := w.Start()
		if err == nil {
			return w.Stop, nil
		}
		if !isLost(err) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return func() {}, nil
		case <-time.After(firstTry):
		}
	}
}

// serve gives a task to a handler.
func (q *Queue) serve(ctx context.Context, task queue.Task, handle queue.Handler) error {
	stop := make(chan struct{})
	living, over := context.WithCancel(context.WithoutCancel(ctx))
	defer over()
	go q.live(living, activity.GetInfo(ctx).TaskToken, sync.OnceFunc(func() { close(stop) }))
	err := handle(task, stop)
	if busy, ok := errors.AsType[*queue.BusyError](err); ok {
		return temporal.NewApplicationErrorWithOptions("", "busy", temporal.ApplicationErrorOptions{NextRetryDelay: busy.Again})
	}
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*queue.RefusedError](err)
	if !ok {
		refused = &queue.RefusedError{Reason: queue.RefusedFailed} // the text may be anything (rule Q3)
	}
	return temporal.NewApplicationErrorWithOptions("", string(refused.Reason), temporal.ApplicationErrorOptions{
		NonRetryable: true, Details: []any{q.opts.Identity},
	})
}

// live gives signs of life until ctx ends, and passes on the wish to stop that comes back.
//
// In a goroutine of its own: while the cluster is away, a sign of life takes longer than all that
// waits for it may (trap S2). And not by those of the SDK, which ends the context of the activity
// after some of them, as when somebody pauses it in the cluster, and gives none any more: that is
// no reason to end an apply, nor to let it pass for dead (rule Q2, trap S1).
func (q *Queue) live(ctx context.Context, token []byte, stop func()) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := q.client.RecordActivityHeartbeat(ctx, token)
		switch {
		case as[*temporal.CanceledError](err):
			stop()
		case as[*serviceerror.NotFound](err):
			return // the attempt is out of date: another one has its place, or will have
		}
	}
}
