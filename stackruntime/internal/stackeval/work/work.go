// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package work names the pieces of work that an engine is given in one operation, decides whether
// one may still begin, and passes on to the engine that an operation is to stop.
package work

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
)

// Options are the parameters of [NewOperation].
type Options struct {
	Name    string          // prefix of the names of all work, which no other operation has had; empty for one made up
	Session engine.Session  // may be nil where nothing is planned or applied
	StopNow <-chan struct{} // closed when running work is to end now; may be nil

	// Watch is [hooks.Hooks.ComponentWork].
	Watch hooks.WorkFunc
}

// Operation has the options and the waiting work of one operation. Which pieces of work begin when
// is for the engine to decide.
type Operation struct {
	opts Options

	mu struct {
		sync.Mutex
		halted  bool                                      // nothing more may begin
		waiting map[engine.WorkID]context.CancelCauseFunc // those that have not begun
	}
}

// Piece is a piece of work.
type Piece struct {
	ID        engine.WorkID
	kind      hooks.WorkKind
	component stackaddrs.AbsComponentInstance
}

// NewOperation returns an operation of which no work was begun.
func NewOperation(opts Options) *Operation {
	opts.Name = cmp.Or(opts.Name, rand.Text())
	return &Operation{opts: opts}
}

// Piece names a piece of work, of which there is one of each kind for a component instance.
func (w *Operation) Piece(kind hooks.WorkKind, component stackaddrs.AbsComponentInstance) Piece {
	return Piece{engine.WorkID(w.opts.Name + "/" + string(kind) + "/" + component.String()), kind, component}
}

// Run calls f, which has the engine do a piece of work: with a context that ends when the work must
// not begin any more, and with a function to call when it begins. f must not wait for promises
// (rule V4 of package stackeval). It returns false if the work did not begin because nothing more
// may: then the result of f counts for nothing.
//
// Work that has begun is stopped by [engine.Session.Stop], when the operation shall stop and when
// it shall end now.
func (w *Operation) Run(ctx context.Context, piece Piece, f func(ctx context.Context, began func() bool) hcl.Diagnostics) bool {
	work := piece.ID
	stop := maintask.StopContext(ctx)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(stop))
	defer cancel(nil)
	if stop.Err() != nil || !w.wait(work, cancel) {
		return false
	}
	unwatch := w.watch(stop, work, cancel)
	defer unwatch()
	begun := false
	ctx, watched := w.follow(ctx, piece)
	diags := f(ctx, func() bool {
		if stop.Err() != nil { // the engine looks at its context as soon as this has returned
			cancel(context.Cause(stop))
		}
		begun = ctx.Err() == nil && w.begin(work)
		if begun && watched.Began != nil {
			watched.Began()
		}
		return begun
	})
	if watched.Ended != nil {
		watched.Ended(diags)
	}
	if !begun {
		w.begin(work)
	}
	return begun || ctx.Err() == nil && stop.Err() == nil
}

// follow has the caller of the operation follow a piece of work.
func (w *Operation) follow(ctx context.Context, piece Piece) (context.Context, hooks.Work) {
	if w.opts.Watch == nil {
		return ctx, hooks.Work{}
	}
	return w.opts.Watch(ctx, piece.component, piece.kind)
}

// watch passes on that the operation is to stop, and after that to end now, until the work has
// ended. It needs no goroutine before: there may be thousands of pieces of work that wait for
// others.
func (w *Operation) watch(stop context.Context, work engine.WorkID, cancel context.CancelCauseFunc) (unwatch func()) {
	ended, passedOn := make(chan struct{}), make(chan struct{})
	unregister := context.AfterFunc(stop, func() {
		defer close(passedOn)
		w.stop(stop, work, engine.Gracefully, cancel)
		select {
		case <-ended:
		case <-w.opts.StopNow:
			w.stop(stop, work, engine.Now, cancel)
		}
	})
	return func() {
		close(ended)
		if !unregister() {
			<-passedOn
		}
	}
}

// stop keeps work from beginning, and has the engine stop work that has begun. If the engine does
// not know it, its context ends.
func (w *Operation) stop(ctx context.Context, work engine.WorkID, how engine.Urgency, cancel context.CancelCauseFunc) {
	w.mu.Lock()
	_, waits := w.mu.waiting[work]
	w.mu.Unlock()
	if waits || w.opts.Session.Stop(context.WithoutCancel(ctx), work, how) != nil {
		cancel(context.Cause(ctx))
	}
}

// wait notes work that has not begun. It returns false if none may.
func (w *Operation) wait(work engine.WorkID, cancel context.CancelCauseFunc) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.halted {
		return false
	}
	if w.mu.waiting == nil {
		w.mu.waiting = make(map[engine.WorkID]context.CancelCauseFunc)
	}
	w.mu.waiting[work] = cancel
	return true
}

// begin reports whether work that has waited may begin.
func (w *Operation) begin(work engine.WorkID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, waits := w.mu.waiting[work]
	delete(w.mu.waiting, work)
	return waits
}

var errHalted = errors.New("nothing more is begun")

// Halt lets nothing more begin. Work that has begun goes on.
func (w *Operation) Halt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.halted = true
	for _, cancel := range w.mu.waiting {
		cancel(errHalted)
	}
	w.mu.waiting = nil
}
