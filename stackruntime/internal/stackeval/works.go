// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"errors"
	"sync"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// works are the pieces of work that the engine is given in an operation. Which of them begin when is for the engine to say.
type works struct {
	operation string // what the names of all of them begin with

	mu struct {
		sync.Mutex
		halted  bool                                      // nothing more may begin
		waiting map[engine.WorkID]context.CancelCauseFunc // those that have not begun
	}
}

// The kinds of work.
const (
	planWork    = "plan"
	refreshWork = "refresh" // a plan to learn the results before something is destroyed
	restWork    = "rest"    // a plan of what is left of one that was applied in part
	applyWork   = "apply"
)

func (w *works) id(kind string, component stackaddrs.AbsComponentInstance) engine.WorkID {
	return engine.WorkID(w.operation + "/" + kind + "/" + component.String())
}

// run calls f, which has the engine do a piece of work: with a context that ends when the operation shall stop, and with what is to be called
// when the work begins. f must not wait for promises (rule V4). It returns false if the work did not begin because
// nothing more may: then what came of it counts for nothing.
func (w *works) run(ctx context.Context, work engine.WorkID, f func(ctx context.Context, began func() bool)) bool {
	ctx, cancel := context.WithCancelCause(stopContext(ctx))
	defer cancel(nil)
	if ctx.Err() != nil || !w.wait(work, cancel) {
		return false
	}
	begun := false
	f(ctx, func() bool {
		begun = w.begin(work)
		return begun
	})
	if !begun {
		w.begin(work)
	}
	return begun || ctx.Err() == nil
}

// wait notes work that has not begun. It returns false if none may.
func (w *works) wait(work engine.WorkID, cancel context.CancelCauseFunc) bool {
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
func (w *works) begin(work engine.WorkID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, waits := w.mu.waiting[work]
	delete(w.mu.waiting, work)
	return waits
}

var errHalted = errors.New("nothing more is begun")

// halt lets nothing more begin. What has begun goes on.
func (w *works) halt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.halted = true
	for _, cancel := range w.mu.waiting {
		cancel(errHalted)
	}
	w.mu.waiting = nil
}
