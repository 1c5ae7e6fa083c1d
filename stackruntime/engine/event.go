// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"encoding/json"
	"time"
)

// Observer receives the events of one piece of work, one at a time and in their order, before the call for the work returns. It must not block.
type Observer func(Event)

// Observe passes on an event. Nobody receives those for a nil observer.
func (o Observer) Observe(event Event) {
	if o != nil {
		o(event)
	}
}

// Event is progress of one component instance.
type Event struct {
	Type     EventType
	Resource string // resource instance address in the module, or ""
	Action   string // create, read, update, delete, replace …
	IDKey    string // name of the identifying attribute, when known
	IDValue  string
	Elapsed  time.Duration
	Message  string // what terraform would print for a person

	// Raw is the event in terraform's machine-readable format, when the engine
	// has one. Nil otherwise.
	Raw json.RawMessage
}

// EventType is the kind of an [Event], named as in terraform's machine-readable output.
type EventType string

// The kinds of events.
const (
	// WorkBegan comes first, when the engine begins the work: until then it has waited for other work to end.
	WorkBegan EventType = "work_began"

	PlannedChange     EventType = "planned_change"
	ResourceDrift     EventType = "resource_drift"
	RefreshStart      EventType = "refresh_start"
	RefreshComplete   EventType = "refresh_complete"
	ApplyStart        EventType = "apply_start"
	ApplyProgress     EventType = "apply_progress"
	ApplyComplete     EventType = "apply_complete"
	ApplyErrored      EventType = "apply_errored"
	ProvisionStart    EventType = "provision_start"
	ProvisionProgress EventType = "provision_progress"
	ProvisionComplete EventType = "provision_complete"
	ProvisionErrored  EventType = "provision_errored"
	EphemeralStart    EventType = "ephemeral_op_start"
	EphemeralComplete EventType = "ephemeral_op_complete"
)
