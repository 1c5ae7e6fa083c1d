// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"context"
	"sync"

	"github.com/cairnstacks/cairn/internal/process"
)

// directories are those of root modules in which an engine is at work (rule R4): a module is
// initialized there, which is done to read its outputs, too, if they cannot be read otherwise. The
// zero value is ready to use. Safe for concurrent use.
type directories struct {
	mu struct {
		sync.Mutex
		taken map[string]chan struct{} // by directory; full while something is done
	}
}

// take waits until nothing else is done in the directory of a unit. The caller must not have taken
// another one, and releases it.
//
// Errors: [process.ErrStopped] if ctx ends before.
func (d *directories) take(ctx context.Context, u *Unit) (release func(), err error) {
	if u.Kind != Root {
		return func() {}, nil
	}
	place := d.place(u.Dir)
	select {
	case place <- struct{}{}:
		return func() { <-place }, nil
	case <-ctx.Done():
		return nil, process.ErrStopped
	}
}

func (d *directories) place(dir string) chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.taken[dir] == nil {
		if d.mu.taken == nil {
			d.mu.taken = map[string]chan struct{}{}
		}
		d.mu.taken[dir] = make(chan struct{}, 1)
	}
	return d.mu.taken[dir]
}
