// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package instances

import (
	"context"

	"github.com/cairnstacks/cairn/internal/providers/provider"
)

// Lease is the right to use a provider until it is released. Safe for concurrent use.
type Lease struct {
	Provider provider.Provider

	pool     *Pool // nil for the provider that is built in
	key      key
	instance *instance

	released, stopping bool // read and written with the pool's lock
}

// Release gives the provider back. The caller must not use it any more. May be called again.
func (l *Lease) Release() {
	if l.pool == nil {
		return
	}
	l.pool.mu.Lock()
	again, stopping := l.released, l.stopping
	l.released = true
	l.pool.mu.Unlock()
	if again {
		return
	}
	l.pool.release(l.key, l.instance, stopping)
	_ = l.pool.stop(l.pool.life, l.key, l.instance) //nolint:errcheck // those who wait for it see that it did not stop
}

// Stop asks the provider to end its work, once all its other users want that, too (rule S6). It
// does not wait for that.
func (l *Lease) Stop(ctx context.Context) error {
	if l.pool == nil {
		return nil
	}
	l.pool.mu.Lock()
	if !l.stopping && !l.released {
		l.stopping = true
		l.instance.stopping++
	}
	l.pool.mu.Unlock()
	return l.pool.stop(ctx, l.key, l.instance)
}

// stop tells an instance to stop if all its users want that, and nobody has told it before.
func (p *Pool) stop(ctx context.Context, k key, one *instance) error {
	p.mu.Lock()
	stop := one.users > 0 && one.stopping == one.users && !one.stopped
	one.stopped = one.stopped || stop
	p.mu.Unlock()
	if !stop {
		return nil
	}
	p.retire(k, one)
	return one.provider.Stop(ctx)
}
