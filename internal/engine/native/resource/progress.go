// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package resource

import (
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// progressPeriod is how often is said that a provider still works on a change.
const progressPeriod = 10 * time.Second

// progress says how the change of an object goes.
type progress struct {
	observe engine.Observer
	event   engine.Event // the fields that all events have in common
	began   time.Time

	mu struct {
		sync.Mutex
		timer *time.Timer
		ended bool
	}
}

// begin says that a change begins.
func (rt *Runtime) begin(t *Target, action engine.Action, object cty.Value) *progress {
	p := &progress{observe: rt.Observe, began: time.Now(), event: engine.Event{Resource: t.Address, Action: string(action)}}
	if p.observe == nil {
		return p
	}
	p.identify(t, object)
	p.say(engine.ApplyStart, 0)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.timer = time.AfterFunc(progressPeriod, p.goOn)
	return p
}

// identify finds the id by which people know the object.
func (p *progress) identify(t *Target, object cty.Value) {
	attr := t.Block.Attribute("id")
	if attr == nil || attr.Type != cty.String || attr.Sensitive || object.IsNull() || !object.IsKnown() {
		return
	}
	if id := object.GetAttr("id"); id.IsKnown() && !id.IsNull() && !marks.Has(id, marks.Sensitive) {
		p.event.IDKey, p.event.IDValue = "id", id.AsString()
	}
}

func (p *progress) say(kind engine.EventType, elapsed time.Duration) {
	event := p.event
	event.Type, event.Elapsed = kind, elapsed
	p.observe(event)
}

// goOn says that the change goes on, until it has ended.
func (p *progress) goOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.ended {
		return
	}
	p.say(engine.ApplyProgress, time.Since(p.began))
	p.mu.timer.Reset(progressPeriod)
}

// end says how the change has ended.
func (p *progress) end(ok bool, t *Target, object cty.Value) {
	if p.observe == nil {
		return
	}
	p.mu.Lock()
	p.mu.timer.Stop()
	p.mu.ended = true
	p.mu.Unlock()
	p.identify(t, object)
	kind := engine.ApplyComplete
	if !ok {
		kind = engine.ApplyErrored
	}
	p.say(kind, time.Since(p.began))
}
