// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"cmp"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Invocation is an action of a provider that is invoked because of the change of a resource
// instance, or because somebody asks for it.
type Invocation struct {
	// Addr is the address in the module tree of the component. The key [*] stands for an instance that
	// is not known yet.
	Addr     stackaddrs.ActionInstance
	Provider stackaddrs.Provider // the zero value where it is not known
	Trigger  Trigger

	// Config is the configuration of the action, an object of the type that its schema gives it.
	// Unknown: whole or in part. Marks: sensitive. [cty.NilVal] where nobody has evaluated it, and in
	// events.
	Config cty.Value
}

// Trigger is the cause of an invocation of an action: a change, or a request.
type Trigger struct {
	// Resource is the instance whose change it is. Of a request, the caller that the configuration of
	// the action refers to, or the zero value.
	Resource stackaddrs.ResourceInstance

	Event    TriggerEvent // "" for a request
	Block    int          // which of the resource's action_trigger blocks, from 0
	Position int          // in the list of actions of that block, or of the request, from 0

	OnFailure OnFailure // "" counts as halt
}

// IsRequest reports whether the action is invoked because somebody asks for it.
func (t Trigger) IsRequest() bool { return t.Event == "" }

// Caller returns the address of the instance whose change it is, or that a requested action has as
// its caller; "" if there is none.
func (t Trigger) Caller() string {
	if t.Resource == (stackaddrs.ResourceInstance{}) {
		return ""
	}
	return t.Resource.String()
}

// Requested are actions that somebody asks for.
type Requested struct {
	// Actions are invoked one after another. Without a key, all instances of the block are meant.
	Actions []stackaddrs.ActionInstance

	// Callers limit the invocations of actions that refer to their caller to these instances. Without
	// a key, all instances of the block are meant. None stands for all that trigger the action.
	Callers []stackaddrs.ResourceInstance
}

// OnFailure is the effect that the failure of an action has on the change that triggers it, in the
// words of the language.
type OnFailure string

// The effects.
const (
	HaltOnFailure     OnFailure = "halt"     // the change fails, and all that waits for it is left out
	TaintOnFailure    OnFailure = "taint"    // so it is, and an object that was created is tainted
	ContinueOnFailure OnFailure = "continue" // errors are warnings
)

// TriggerEvent is when an action is invoked, in the words of the language.
type TriggerEvent string

// The events.
const (
	BeforeCreate TriggerEvent = "before_create"
	AfterCreate  TriggerEvent = "after_create"
	BeforeUpdate TriggerEvent = "before_update"
	AfterUpdate  TriggerEvent = "after_update"

	BeforeDestroy TriggerEvent = "before_destroy"
	AfterDestroy  TriggerEvent = "after_destroy"
)

// TriggerEvents are all events, as they follow each other for an object that is replaced by
// destroying it first.
var TriggerEvents = []TriggerEvent{BeforeDestroy, AfterDestroy, BeforeCreate, BeforeUpdate, AfterCreate, AfterUpdate}

// Before reports whether the action is invoked before the change is made, and not after that.
func (e TriggerEvent) Before() bool {
	return e == BeforeCreate || e == BeforeUpdate || e == BeforeDestroy
}

// Ends reports whether the event is about the end of an object.
func (e TriggerEvent) Ends() bool { return e == BeforeDestroy || e == AfterDestroy }

// Matches reports whether an action is one that the event is about. A replacement destroys one
// object and creates another one; an object that is forgotten has no event.
func (e TriggerEvent) Matches(action Action) bool {
	switch e {
	case BeforeCreate, AfterCreate:
		return action == ActionCreate || action.Succeeds()
	case BeforeUpdate, AfterUpdate:
		return action == ActionUpdate
	case BeforeDestroy, AfterDestroy:
		return action == ActionDelete || action.Replaces()
	}
	return false
}

// DeferredInvocation is an invocation that cannot be planned yet.
type DeferredInvocation struct {
	Reason     string // as in docs/language.md, section 4.8
	Invocation *Invocation
}

// Compare orders invocations by the addresses of the resource instances, and for one of these as
// they follow each other. Those that were asked for stay in the order of the request.
func (i *Invocation) Compare(other *Invocation) int {
	order := func(e TriggerEvent) int { return slices.Index(TriggerEvents, e) }
	a, b := i.Trigger, other.Trigger
	if a.IsRequest() && b.IsRequest() {
		return cmp.Or(cmp.Compare(a.Position, b.Position), i.Addr.Compare(other.Addr), a.Resource.Compare(b.Resource))
	}
	return cmp.Or(
		cmp.Compare(a.Resource.String(), b.Resource.String()), cmp.Compare(order(a.Event), order(b.Event)), cmp.Compare(a.Block, b.Block),
		cmp.Compare(a.Position, b.Position), i.Addr.Compare(other.Addr),
	)
}

// SortInvocations sorts in place, as rule E5 says.
func SortInvocations(list []*Invocation) { slices.SortStableFunc(list, (*Invocation).Compare) }

// SortDeferredInvocations is [SortInvocations] for those that are deferred.
func SortDeferredInvocations(list []DeferredInvocation) {
	slices.SortStableFunc(list, func(a, b DeferredInvocation) int { return a.Invocation.Compare(b.Invocation) })
}
