// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"encoding/json"
	"time"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Observer receives the events of one piece of work, one at a time and in their order, before the
// call for the work returns. It must not block.
type Observer func(Event)

// Observe passes on an event. Nobody receives those for a nil observer.
func (o Observer) Observe(event Event) {
	if o != nil {
		o(event)
	}
}

// Numbered returns an observer that passes events on with their positions, from 1. It is for
// engines whose events cannot be read again.
func (o Observer) Numbered() Observer {
	if o == nil {
		return nil
	}
	var last Position
	return func(event Event) {
		last++
		event.Position = last
		o(event)
	}
}

// Position is how far the events of a piece of work are: each event has the position of the one
// before, or a larger one. Where events are read again, that is done from after a position.
// [WorkBegan] has none.
type Position int64

// Event is progress of one component instance.
type Event struct {
	Position Position
	Type     EventType
	Resource string              // resource instance address in the module, or ""
	Provider stackaddrs.Provider // of the resource, of events about planning; zero where the engine does not say
	Action   string              // create, read, update, delete, replace …
	IDKey    string              // name of the identifying attribute, when known
	IDValue  string
	Elapsed  time.Duration

	// Previous is the address in the state, of a planned change that moves the object, and ImportID
	// the ID of one that imports it.
	Previous, ImportID string

	Message string // terraform's text for a person

	// Raw is the event in terraform's machine-readable format, when the engine
	// has one. Nil otherwise.
	Raw json.RawMessage

	Object *ObjectChange // of ObjectChanged only

	// Invocation is the action that is invoked, of PlannedInvocation and of the events of actions
	// only. Resource is then the one that triggers it.
	Invocation *Invocation
}

// ObjectChange is a change of the state while a component instance is being applied, so that it can
// be saved now and then. Until [Session.Acknowledge], the engine keeps the state safe itself if it
// can.
type ObjectChange struct {
	Addr    stackaddrs.ResourceInstance
	Deposed stackaddrs.DeposedKey

	// Entry is the object as it is now, in the form of an entry of package tfstate. Holds values in
	// clear. Nil if the object is gone.
	Entry json.RawMessage
}

// EventType is the kind of an [Event], named as in terraform's machine-readable output.
type EventType string

// The kinds of events.
const (
	// WorkBegan comes first, when the engine begins the work: until then it has waited for other work
	// to end.
	WorkBegan EventType = "work_began"

	// ObjectChanged says that an object was written to the state or removed from it. Not all do while
	// they are finished, but none is left out for good: those of an apply that succeeds lead from the
	// prior state to the objects of the final one.
	ObjectChanged EventType = "object_changed"

	// Unplannable says that a resource instance cannot be planned, as its provider has refused its
	// configuration or cannot be started.
	Unplannable EventType = "unplannable"

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

	PlannedInvocation EventType = "planned_action_invocation"
	ActionStart       EventType = "action_start"
	ActionProgress    EventType = "action_progress" // with the provider's text as the message
	ActionComplete    EventType = "action_complete"
	ActionErrored     EventType = "action_errored"
)
