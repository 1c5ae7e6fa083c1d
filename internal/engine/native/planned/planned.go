// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package planned is the plan of one component as the native engine makes it, and as it is kept
// between planning and applying.
package planned

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/lang/providercall"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Plan is the information that applying needs.
type Plan struct {
	Mode      engine.Mode
	Timestamp time.Time

	// Prior distinguishes the state that the plan was made for from others: see [PriorOf].
	Prior string

	// State is the prior state as it was found: after moves and after reading objects.
	State engine.State

	// Inputs are the values of the root module's variables, but for ephemeral ones. Unknown: whole or
	// in part. Marks: sensitive.
	Inputs map[string]cty.Value

	// Outputs are those of the root module that are known already, but for ephemeral ones: an apply
	// stores them without evaluating them again, even if it fails. Unknown: never. Marks: sensitive.
	Outputs map[string]cty.Value

	Changes []*Change // those that are deferred, too
	Checks  []engine.CheckResult

	// Results are those of functions that could return something else while applying.
	Results []providercall.Result

	// Deferred are the addresses of the blocks some of whose instances are deferred, without keys.
	Deferred []stackaddrs.ResourceInstance
}

// Change is the planned change of one object.
type Change struct {
	Addr     stackaddrs.ResourceInstance
	Previous stackaddrs.ResourceInstance // the zero value if that is the same
	Deposed  stackaddrs.DeposedKey
	Provider stackaddrs.Provider
	Alias    string // of the provider configuration

	Action engine.Action
	Reason engine.ActionReason

	// Before and After have the type of the provider's schema, and marks. Null where there is no
	// object.
	Before, After                 cty.Value
	BeforeIdentity, AfterIdentity cty.Value // or [cty.NilVal]
	Private                       []byte    // of the plan
	BeforePrivate                 []byte
	Replace                       []cty.Path
	Importing                     *engine.Importing

	CreateBeforeDestroy bool
	Deferred            string // why nothing is done; "" if it is

	Invocations []*Invocation // actions that the change triggers, in the order in which they are invoked
}

// Invocation is an action that is invoked because of a change.
type Invocation struct {
	engine.Invocation

	Conditional bool   // whether it is invoked is decided when all values are known
	Deferred    string // why it is deferred; "" if it is not
}

// Engine returns the change as the contract of engines has it.
func (c *Change) Engine() *engine.Change {
	return &engine.Change{
		Addr: c.Addr, PreviousAddr: c.Previous, Deposed: c.Deposed, Provider: c.Provider, Action: c.Action, Reason: c.Reason,
		Before: c.Before, After: c.After, Replace: c.Replace, Importing: c.Importing,
		BeforeIdentity: c.BeforeIdentity, AfterIdentity: c.AfterIdentity,
	}
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
