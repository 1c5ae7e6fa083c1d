// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// WorkID names a piece of work: the plan or the apply of one component instance. The caller makes
// it up, so that it can be known before the work begins, and never uses it again.
type WorkID string

// Urgency is how work is to end.
type Urgency int

const (
	// Gracefully lets the work finish the steps it has begun, and begin nothing more.
	Gracefully Urgency = iota

	// Now says that somebody waits for the end. Work that changes nothing, such as a plan, is ended at
	// once. Work that was asked to end gracefully goes on to where nothing of it is lost, but no
	// further.
	Now
)

// Mode is the kind of plan to make.
type Mode int

// The modes of plans.
const (
	Normal      Mode = iota
	Destroy          // destroy everything that the state holds
	RefreshOnly      // only bring the state up to date
	Invoke           // only invoke actions that are named, with objects as they are
)

// String returns the mode's name as in JSON output.
func (m Mode) String() string {
	return [...]string{"normal", "destroy", "refresh-only", "invoke"}[m]
}

// KeepsObjects reports whether plans of the mode change no object.
func (m Mode) KeepsObjects() bool { return m == RefreshOnly || m == Invoke }

// ProviderConfig is a provider configuration assigned to a slot.
type ProviderConfig struct {
	Provider stackaddrs.Provider

	// Instance says which configuration it is: those with the same address have the same content. Zero
	// if Unknown.
	Instance stackaddrs.AbsProviderConfigInstance

	// Config has the shape that the provider's [ProviderSchema] gives it. May be
	// unknown in part, sensitive and ephemeral.
	Config cty.Value

	// Unknown is set when it is not known yet which configuration will be used.
	Unknown bool
}

// PlanRequest is a request to plan a component instance.
type PlanRequest struct {
	Work      WorkID
	Component stackaddrs.AbsComponentInstance
	ModuleDir string
	Mode      Mode

	// Inputs has an attribute for each variable of the module, of the variable's
	// type. Null: the module's own rules judge it. Unknown: whole or in part.
	// Marks: sensitive; ephemeral for ephemeral variables only.
	Inputs    map[string]cty.Value
	Providers map[ProviderSlot]ProviderConfig

	PriorState  State
	SkipRefresh bool
	Replace     []string // resource instance addresses that must be replaced
	Timestamp   time.Time

	// DeferAll is set when something that the component depends on is deferred. All changes are then,
	// too, and the plan is not complete, even if there are none.
	DeferAll bool

	// Requested are the actions to invoke, in mode Invoke.
	Requested Requested

	// GenerateConfig has resource blocks made for objects that import blocks of the module name and
	// that no block declares. The plan is as if the module had them. In mode [Normal] only.
	GenerateConfig bool
}

// PlanResult is the plan of one component instance.
type PlanResult struct {
	Engine Info   // by which it was made
	Reason Reason // why by that one, of an engine that chooses between others

	// Plan is the part of the engine's own plan that the other fields lack, and that [Session.Apply]
	// needs. Holds values in clear: treat it like state.
	Plan []byte

	Applyable bool // there is something to apply
	Complete  bool // nothing was deferred

	// Outputs has all declared outputs that are not ephemeral as planned, with their exact types.
	// Unknown: values that applying makes known. Marks: sensitive.
	Outputs map[string]cty.Value

	// Ephemeral has the outputs that are, which nobody stores. Marks: sensitive, ephemeral.
	Ephemeral map[string]cty.Value

	Changes  []*Change // sorted by address, no-op included
	Drift    []*Change // changes made outside, sorted by address
	Deferred []DeferredChange
	Checks   []CheckResult

	// Invocations are the actions that the changes trigger, sorted by their triggers, or those that
	// were asked for, in the order of the request. An invocation is deferred with the change that
	// triggers it.
	Invocations         []*Invocation
	DeferredInvocations []DeferredInvocation

	// RefreshedState is the prior state with the changes found while refreshing.
	RefreshedState State

	// Generated are the blocks that [PlanRequest.GenerateConfig] asks for, sorted by address. They are
	// there also if planning with them has failed.
	Generated []Generated
}

// Generated is the resource block that was made for an object.
type Generated struct {
	ModuleDir string                      // of the component's module, in which the block belongs
	Addr      stackaddrs.ResourceInstance // in that module
	Text      string                      // whole lines; without sensitive values
}

// ApplyRequest is a request to apply the plan of a component instance.
type ApplyRequest struct {
	Work      WorkID
	Component stackaddrs.AbsComponentInstance
	ModuleDir string
	Mode      Mode

	// Planned is the result of [Session.Plan] as its keeper hands it back: without Ephemeral. The
	// engine that made it is one of [Session.CanApply].
	Planned *PlanResult

	// PlannedInputs are the inputs that the plan was made with. Null: ephemeral ones.
	PlannedInputs map[string]cty.Value
	Timestamp     time.Time // of the plan

	// Inputs are the final values, in the shape of [PlanRequest.Inputs] and known
	// as far as the configuration makes them so.
	Inputs    map[string]cty.Value
	Providers map[ProviderSlot]ProviderConfig

	PriorState State
}

// ApplyResult is the result of an apply, complete or not.
type ApplyResult struct {
	State State

	// Outputs has all declared outputs that are not ephemeral; those which were not computed are
	// unknown. Marks: sensitive.
	Outputs map[string]cty.Value

	// Ephemeral has the outputs that are, as in [PlanResult].
	Ephemeral map[string]cty.Value

	// Checks are the results of checks and conditions.
	Checks []CheckResult
}
