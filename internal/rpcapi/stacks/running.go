// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"
	"sync"

	"github.com/cairnstacks/cairn/internal/operation"
)

// running are the operations that can be stopped. The zero value has none.
type running struct {
	mu    sync.Mutex
	last  int
	stops map[int]context.CancelCauseFunc
}

// begin returns the context of an operation, which ends with the call, or when the operation is
// stopped. The caller calls end.
func (r *running) begin(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stops == nil {
		r.stops = map[int]context.CancelCauseFunc{}
	}
	r.last++
	id := r.last
	r.stops[id] = cancel
	return ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.stops, id)
		cancel(nil)
	}
}

func (r *running) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, cancel := range r.stops {
		cancel(operation.ErrInterrupted)
	}
}
