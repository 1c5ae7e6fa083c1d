// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"context"
	"errors"
	"sync"
)

// Works is for engines: the work of a session, of which so much is done at the same time (rule E6),
// and which can be stopped.
type Works struct {
	free chan struct{} // an element for each piece of work that is being done

	mu struct {
		sync.Mutex
		works map[WorkID]*Work
	}
}

// NewWorks returns the works of a session that does so many at the same time; 0 means
// [DefaultParallelism].
func NewWorks(parallelism int) *Works {
	if parallelism <= 0 {
		parallelism = DefaultParallelism
	}
	w := &Works{free: make(chan struct{}, parallelism)}
	w.mu.works = make(map[WorkID]*Work)
	return w
}

// Work is a piece of work that has begun. Made by [Works.Begin] and [Works.PickUp].
type Work struct {
	id       WorkID
	works    *Works
	stop     context.CancelCauseFunc
	pickedUp bool // it takes no room

	mu struct {
		sync.Mutex
		now bool   // somebody waits for the end
		end func() // ends the present step at once; nil while there is nothing to end
	}
}

// ErrStopped is the cause with which the context of work ends that was stopped.
var ErrStopped = errors.New("the work was stopped")

// Begin waits until a piece of work may begin, and calls the observer. The work is to be done with
// the context that is returned. The caller calls End after it.
//
// Errors: the cause of the end of ctx, or [ErrStopped]. The work must not begin then.
func (w *Works) Begin(ctx context.Context, id WorkID, observe Observer) (context.Context, *Work, error) {
	ctx, stop := context.WithCancelCause(ctx)
	work := &Work{id: id, works: w, stop: stop}
	w.mu.Lock()
	w.mu.works[id] = work
	w.mu.Unlock()
	select {
	case w.free <- struct{}{}:
	case <-ctx.Done():
		work.forget()
		return nil, nil, context.Cause(ctx)
	}
	if ctx.Err() == nil { // when several cases are ready, select takes any
		observe.Observe(Event{Type: WorkBegan})
	}
	if ctx.Err() != nil {
		work.End()
		return nil, nil, context.Cause(ctx)
	}
	return ctx, work, nil
}

// BeginIn is [Works.Begin] for work that another session is to do, with the observer that is
// returned: the event of the beginning is not passed on twice.
func (w *Works) BeginIn(ctx context.Context, id WorkID, observe Observer, owner Session) (context.Context, *Work, Observer, error) {
	ctx, work, err := w.Begin(ctx, id, observe)
	if err != nil {
		return nil, nil, nil, err
	}
	work.OnNow(func() { _ = owner.Stop(context.WithoutCancel(ctx), id, Now) }) //nolint:errcheck // it may have ended
	return ctx, work, func(event Event) {
		if event.Type != WorkBegan {
			observe.Observe(event)
		}
	}, nil
}

// PickUp is [Works.Begin] for work that another program has begun, which is waited for and can be
// stopped, and keeps nothing else from beginning.
func (w *Works) PickUp(ctx context.Context, id WorkID) (context.Context, *Work) {
	ctx, stop := context.WithCancelCause(ctx)
	work := &Work{id: id, works: w, stop: stop, pickedUp: true}
	w.mu.Lock()
	w.mu.works[id] = work
	w.mu.Unlock()
	return ctx, work
}

// End says that the work is done, and makes room for other work.
func (w *Work) End() {
	if !w.pickedUp {
		<-w.works.free
	}
	w.forget()
}

func (w *Work) forget() {
	w.works.mu.Lock()
	delete(w.works.mu.works, w.id)
	w.works.mu.Unlock()
	w.stop(nil)
}

// OnNow sets the function that ends the present step at once, from now on: for steps that lose
// nothing by that.
func (w *Work) OnNow(end func()) {
	w.mu.Lock()
	w.mu.end = end
	now := w.mu.now
	w.mu.Unlock()
	if now {
		end()
	}
}

// Stop ends the context of a piece of work, and its present step at once if somebody waits for that
// and nothing is lost ([Work.OnNow]).
//
// Errors: [ErrUnknownWork].
func (w *Works) Stop(id WorkID, how Urgency) error {
	w.mu.Lock()
	work := w.mu.works[id]
	w.mu.Unlock()
	if work == nil {
		return ErrUnknownWork
	}
	work.stop(ErrStopped)
	if how == Gracefully {
		return nil
	}
	work.mu.Lock()
	work.mu.now = true
	end := work.mu.end
	work.mu.Unlock()
	if end != nil {
		end()
	}
	return nil
}
