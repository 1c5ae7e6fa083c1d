// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"context"
	"sync"
	"time"
)

// LeaseTime is how long the lease of a lock lasts without being renewed: long enough for a server
// to be restarted, and for a network to come back, without anybody taking the lock of a holder that
// is well. Tests that wait for its end make it shorter in all their processes, before any store is
// opened.
var LeaseTime = 2 * time.Minute

// renewals is the number of times that a lease is renewed while one lasts.
const renewals = 6

// Lease is renewed in the background until it is ended.
type Lease struct {
	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// KeepLease calls renew from time to time until the lease is ended, or the channel closed, as it is
// with the store. An operation that is interrupted has its lock until it unlocks: the end of ctx is
// not that of the lease.
func KeepLease(ctx context.Context, closed <-chan struct{}, renew func(context.Context)) *Lease {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &Lease{stop: stop}
	l.stopped.Go(func() {
		ticker := time.NewTicker(LeaseTime / renewals)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-closed:
				return
			case <-ticker.C:
				renew(ctx)
			}
		}
	})
	return l
}

// End ends the renewals. It may be called for nil, and more than once.
func (l *Lease) End() {
	if l != nil {
		l.stop()
		l.stopped.Wait()
	}
}
