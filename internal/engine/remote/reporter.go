// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"sync"
	"time"

	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// eventDelay is how long events wait for others, to be reported together.
const eventDelay = 200 * time.Millisecond

// reporter reports the progress of one call. Events wait a little; records don't, and come after
// the events before them. Safe for concurrent use.
type reporter struct {
	send func([]byte) error
	turn sync.Mutex // held while something is sent, so that the order is kept

	mu struct {
		sync.Mutex
		events []engine.Event
		timer  *time.Timer
		failed error // of the first report that was refused
	}
}

func newReporter(send func([]byte) error) *reporter { return &reporter{send: send} }

// observe is an [engine.Observer].
func (r *reporter) observe(event engine.Event) {
	if event.Type == engine.WorkBegan { // which was said on the other machine
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.events = append(r.mu.events, event)
	if r.mu.timer == nil {
		r.mu.timer = time.AfterFunc(eventDelay, func() { _ = r.flush() }) //nolint:errcheck // the next record fails
	}
}

// flush reports the events that wait.
func (r *reporter) flush() error { return r.report(nil) }

// record reports a part of the record of an apply.
func (r *reporter) record(content []byte) error { return r.report(content) }

func (r *reporter) report(record []byte) error {
	r.turn.Lock()
	defer r.turn.Unlock()
	r.mu.Lock()
	next, err := report{Events: r.mu.events, Record: record}, r.mu.failed
	r.mu.events = nil
	if r.mu.timer != nil {
		r.mu.timer.Stop()
		r.mu.timer = nil
	}
	r.mu.Unlock()
	if err != nil || len(next.Events) == 0 && len(record) == 0 {
		return err
	}
	content, err := wire.Encode(next)
	if err == nil {
		err = r.send(content)
	}
	if err != nil {
		r.mu.Lock()
		r.mu.failed = err
		r.mu.Unlock()
	}
	return err
}
