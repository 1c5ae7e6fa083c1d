// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"sync"
	"time"

	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Reports are the ways by which the reports of a call go to its caller, in one order.
type Reports struct {
	Say  func(report []byte)       // passes on a report soon, at the latest with the answer
	Keep func(report []byte) error // returns when a report and all before it are where they are not lost with this program
}

// eventDelay is how long events wait for others, to be reported together.
const eventDelay = 200 * time.Millisecond

// reporter reports the progress of one call. Events wait a little; records don't, and come after
// the events before them. Safe for concurrent use.
type reporter struct {
	to   Reports
	turn sync.Mutex // held while something is reported, so that the order is kept

	mu struct {
		sync.Mutex
		events []engine.Event
		timer  *time.Timer
		failed error // of the first record that was refused
	}
}

func newReporter(to Reports) *reporter { return &reporter{to: to} }

// observe is an [engine.Observer].
func (r *reporter) observe(event engine.Event) {
	if event.Type == engine.WorkBegan { // which was said on the other machine
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.events = append(r.mu.events, event)
	if r.mu.timer == nil {
		r.mu.timer = time.AfterFunc(eventDelay, r.flush)
	}
}

// flush reports the events that wait.
func (r *reporter) flush() { r.say(nil) }

// say reports the events that wait, and a part of the record of an apply, if there is one.
func (r *reporter) say(record []byte) {
	r.turn.Lock()
	defer r.turn.Unlock()
	if content, err := r.next(record); err == nil && content != nil { // else keep has failed, too
		r.to.Say(content)
	}
}

// keep reports the events that wait, and a part of the record, and returns when that is kept.
func (r *reporter) keep(record []byte) error {
	r.turn.Lock()
	defer r.turn.Unlock()
	content, err := r.next(record)
	if err == nil {
		err = r.to.Keep(content)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.failed = err
	return err
}

// next returns the next report, nil if there is nothing to report. The caller has the turn.
//
// Errors: that of the first record that was refused.
func (r *reporter) next(record []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.mu.events
	r.mu.events = nil
	if r.mu.timer != nil {
		r.mu.timer.Stop()
		r.mu.timer = nil
	}
	if r.mu.failed != nil || len(events) == 0 && len(record) == 0 {
		return nil, r.mu.failed
	}
	return wire.Encode(report{Events: events, Record: record})
}
