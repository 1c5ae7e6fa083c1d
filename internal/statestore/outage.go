// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"context"
	"sync/atomic"
	"time"
)

// Outage says that a server is away.
type Outage struct {
	Location string
	AtMost   time.Duration // for which it is waited for
	Reason   error
}

// UsualPatience is enough for a server to be restarted, or for its standby to take its place.
const UsualPatience = time.Minute

const (
	firstPause = 50 * time.Millisecond
	mostPause  = 2 * time.Second

	fewAttempts = 3
)

// Reach is the knowledge of whether a server can be reached, for all stores in it. The zero value
// was never reached.
type Reach struct {
	reached atomic.Bool // and was not away since for longer than anybody waits
	told    atomic.Bool // that it is away, and it was not reached since
}

// Reached notes that the server has answered.
func (r *Reach) Reached() {
	r.reached.Store(true)
	r.told.Store(false)
}

// Patience waits for a server that was there and is not any more, such as one that is restarted.
type Patience struct {
	Server   *Reach
	Location string
	AtMost   time.Duration
	Away     func(Outage) // see [Options]; may be nil

	IsLost func(error) bool  // reports whether the server is away, perhaps for a moment
	Reason func(error) error // why, for people
}

// Call makes calls of a function until it succeeds, for as long as the server is away, or
// isConflict finds that it has failed only for another call; isConflict may be nil.
//
// A server that was never reached is tried a few times and not waited for: most likely its address
// is wrong.
func (p *Patience) Call(ctx context.Context, attempt func() error, isConflict func(error) bool) error {
	var deadline time.Time
	pause := firstPause
	for attempts := 1; ; attempts++ {
		err := attempt()
		lost := err != nil && p.IsLost(err)
		conflict := err != nil && isConflict != nil && isConflict(err)
		if !lost && !conflict || ctx.Err() != nil {
			return err
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(p.AtMost)
		}
		if !p.Server.reached.Load() && attempts == fewAttempts || time.Now().Add(pause).After(deadline) {
			if lost {
				p.Server.reached.Store(false) // the next call need not wait as long in vain
			}
			return err
		}
		// A connection that was cut is replaced at once.
		if lost && attempts > 1 && p.Server.reached.Load() && p.Away != nil && p.Server.told.CompareAndSwap(false, true) {
			p.Away(Outage{Location: p.Location, AtMost: p.AtMost, Reason: p.Reason(err)})
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		pause = min(2*pause, mostPause)
	}
}
