// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package work names the pieces of work that an engine is given in one operation, and decides whether one may still begin.
package work

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"sync"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
)

// Operation is what the pieces of work of one operation have in common. Which of them begin when is for the engine to say.
type Operation struct {
	name string // what the names of all of them begin with

	mu struct {
		sync.Mutex
		halted  bool                                      // nothing more may begin
		waiting map[engine.WorkID]context.CancelCauseFunc // those that have not begun
	}
}

// Kind is a kind of work.
type Kind string

// The kinds of work.
const (
	Plan    Kind = "plan"
	Refresh Kind = "refresh" // a plan to learn the results before something is destroyed
	Rest    Kind = "rest"    // a plan of what is left of one that was applied in part
	Apply   Kind = "apply"

	// RestReplaced is a plan of what is left, with replacements that nothing but a request leads to.
	RestReplaced Kind = "rest-replaced"
)

// NewOperation returns an operation with a name that no other one has had. Empty stands for one made up.
func NewOperation(name string) *Operation {
	return &Operation{name: cmp.Or(name, rand.Text())}
}

// ID names a piece of work, of which there is one of each kind for a component instance.
func (w *Operation) ID(kind Kind, component stackaddrs.AbsComponentInstance) engine.WorkID {
	return engine.WorkID(w.name + "/" + string(kind) + "/" + component.String())
}

// Run calls f, which has the engine do a piece of work: with a context that ends when the operation shall stop, and with what is to be called
// when the work begins. f must not wait for promises (rule V4 of package stackeval). It returns false if the work did not begin because
// nothing more may: then what came of it counts for nothing.
func (w *Operation) Run(ctx context.Context, work engine.WorkID, f func(ctx context.Context, began func() bool)) bool {
	ctx, cancel := context.WithCancelCause(maintask.StopContext(ctx))
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

// Halt lets nothing more begin. What has begun goes on.
func (w *Operation) Halt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.halted = true
	for _, cancel := range w.mu.waiting {
		cancel(errHalted)
	}
	w.mu.waiting = nil
}
