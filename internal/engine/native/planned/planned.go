// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package planned is the plan of one component as the native engine applies it.
//
// The plan is an [engine.PlanResult], which its keeper hands back, and the details that this lacks.
// [Encode] and [Decode] are for the details alone: nothing of a plan is kept twice.
package planned

import (
	"cmp"
	"encoding/json"

	"github.com/cairnstacks/cairn/internal/lang/providercall"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Plan is the information that applying needs besides the result of planning, and the changes of
// that with their details.
type Plan struct {
	// Prior distinguishes the state that the plan was made for from others: see [PriorOf].
	Prior string

	Changes []*Change // those that are deferred, too; sorted

	Requested []*Invocation // actions that no change triggers, in the order in which they are invoked

	// Results are those of functions that could return something else while applying.
	Results []providercall.Result

	// Deferred are the addresses of the blocks some of whose instances are deferred, without keys.
	Deferred []stackaddrs.ResourceInstance
}

// Change is the planned change of one object. Its values have the type of the provider's schema.
type Change struct {
	engine.Change

	Alias               string // of the provider configuration
	Private             []byte // of the plan
	BeforePrivate       []byte
	CreateBeforeDestroy bool
	Deferred            string // why nothing is done; "" if it is

	Invocations []*Invocation // actions that the change triggers, in the order in which they are invoked
}

// Invocation is an action that is invoked because of a change, or because somebody asks for it.
type Invocation struct {
	engine.Invocation

	Conditional bool   // whether it is invoked is decided when all values are known
	Deferred    string // why it is deferred; "" if it is not
}

// Compare orders changes by address, and then by deposed key.
func (c *Change) Compare(other *Change) int {
	return cmp.Or(c.Addr.Compare(other.Addr), cmp.Compare(c.Deposed, other.Deposed))
}

// PriorOf returns a text that distinguishes the state that a plan is made for, or applied to, from
// others.
func PriorOf(doc *tfstate.Document) string {
	text, err := json.Marshal(doc.Identity())
	if err != nil {
		panic("encoding the identity of a state: " + err.Error())
	}
	return string(text)
}
