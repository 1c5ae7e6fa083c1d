// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package memory has a queue within one process, for tests.
package memory

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cairnstacks/cairn/internal/workers/queue"
)

// Queue is a [queue.Queue]. The zero value is empty.
type Queue struct {
	mu struct {
		sync.Mutex
		running map[string]*task // by ID
		lines   map[queue.Line]chan *task
	}
}

var _ queue.Queue = (*Queue)(nil)

type task struct {
	queue.Task
	began bool
	over  bool
	stop  chan struct{}
	ask   func() // closes stop, once
	ended chan struct{}
	err   error // once it has ended
}

// Do implements [queue.Queue].
func (q *Queue) Do(ctx context.Context, wanted queue.Task) error {
	t := q.join(wanted)
	select {
	case <-t.ended:
		return t.err
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), queue.ErrAnswered) {
		return nil
	}
	q.mu.Lock()
	q.stop(t)
	q.mu.Unlock()
	<-t.ended
	return t.err
}

// stop asks a task to stop. The caller has the lock.
func (q *Queue) stop(t *task) {
	t.ask()
	if !t.began {
		q.end(t, queue.ErrStopped)
	}
}

// Stop implements [queue.Queue].
func (q *Queue) Stop(_ context.Context, task queue.Task) error {
	q.mu.Lock()
	t := q.mu.running[task.ID()]
	if t != nil {
		q.stop(t)
	}
	q.mu.Unlock()
	if t == nil {
		return nil
	}
	<-t.ended
	return nil
}

func (q *Queue) join(wanted queue.Task) *task {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t := q.mu.running[wanted.ID()]; t != nil {
		return t
	}
	stop := make(chan struct{})
	t := &task{Task: wanted, stop: stop, ask: sync.OnceFunc(func() { close(stop) }), ended: make(chan struct{})}
	if q.mu.running == nil {
		q.mu.running = map[string]*task{}
	}
	q.mu.running[wanted.ID()] = t
	q.line(wanted.Line) <- t
	return t
}

// line returns the tasks that wait in a line. The caller has the lock.
func (q *Queue) line(line queue.Line) chan *task {
	if q.mu.lines == nil {
		q.mu.lines = map[queue.Line]chan *task{}
	}
	if q.mu.lines[line] == nil {
		q.mu.lines[line] = make(chan *task, most)
	}
	return q.mu.lines[line]
}

const most = 100_000 // that wait

// Serve implements [queue.Queue].
func (q *Queue) Serve(ctx context.Context, line queue.Line, slots int, handle queue.Handler) error {
	q.mu.Lock()
	waiting := q.line(line)
	q.mu.Unlock()
	var serving sync.WaitGroup
	for range slots {
		serving.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case t := <-waiting:
					q.do(ctx, t, waiting, handle)
				}
			}
		})
	}
	serving.Wait()
	return nil
}

// do calls the handler of a task, and puts it back if that is busy.
func (q *Queue) do(ctx context.Context, t *task, waiting chan *task, handle queue.Handler) {
	q.mu.Lock()
	t.began = true
	over := t.over
	q.mu.Unlock()
	if over {
		return
	}
	err := handle(t.Task, t.stop)
	if busy, ok := errors.AsType[*queue.BusyError](err); ok {
		select {
		case <-time.After(busy.Again):
		case <-ctx.Done():
		}
		waiting <- t
		return
	}
	if _, refused := errors.AsType[*queue.RefusedError](err); err != nil && !refused {
		err = &queue.RefusedError{Reason: queue.RefusedFailed}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.end(t, err)
}

// end ends a task, once. The caller has the lock.
func (q *Queue) end(t *task, err error) {
	if t.over {
		return
	}
	t.over, t.err = true, err
	delete(q.mu.running, t.ID())
	close(t.ended)
}

// Close implements [queue.Queue].
func (q *Queue) Close() {}
