// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stackplan is the model of a plan for a whole stack, and the file
// format that carries a plan from one run to another.
package stackplan

import (
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Plan is a plan for a whole stack.
type Plan struct {
	Mode      engine.Mode
	Applyable bool // no error was seen while planning
	Complete  bool // nothing was deferred
	Partial   bool // limited to a part of the stack
	Timestamp time.Time
	Engine    engine.Info
	Reason    engine.Reason // why by that engine; zero where nobody has said

	Inputs     map[string]*InputChange  // root variables by name
	Outputs    map[string]*OutputChange // root outputs by name
	Components []*Component             // sorted by address

	// Removed are component instances without resources which the configuration
	// no longer has: applying drops their records.
	Removed []stackaddrs.AbsComponentInstance

	// Moved are component instances that the prior state has at another address, sorted by that. The
	// plan names them by their new addresses, and applying gives them these before anything else.
	Moved []stackaddrs.Rename

	// FunctionResults are the results of functions of providers in expressions of the stack, sorted by
	// call. Calls with something unknown are left out.
	FunctionResults []FunctionResult
}

// Hash is the SHA-256 of something that is not kept itself.
type Hash [sha256.Size]byte

// FunctionResult is the result of a call of a function of a provider, to see when
// applying that it is still the same.
type FunctionResult struct {
	Call   Hash // of the provider, the function and the arguments
	Result Hash
}

// Action is the kind of a change to a component instance or a root value.
type Action string

// The actions. Input and output changes use create, update, no-op and delete.
const (
	Create Action = "create"
	Update Action = "update"
	NoOp   Action = "no-op"
	Delete Action = "delete"
	Read   Action = "read"
	Forget Action = "forget"
)

// InputChange is the change of a root variable.
type InputChange struct {
	Action Action
	Before cty.Value // null when the variable is not in the prior state
	After  cty.Value // null for ephemeral variables. May be unknown. Marks: sensitive

	RequiredOnApply bool // ephemeral and set: it must be given again
	DeleteOnApply   bool // the stack is being destroyed
}

// IsUnknown reports whether the value was not known while planning, in whole or in part.
func (c *InputChange) IsUnknown() bool { return !c.After.IsWhollyKnown() }

// NeededOnApply reports whether an apply must be given the value, because the plan does not hold
// it. See also [Plan.LeavesUnknown].
func (c *InputChange) NeededOnApply() bool { return c.RequiredOnApply || c.IsUnknown() }

// LeavesUnknown reports whether the plan can be applied while inputs that were unknown still are:
// it destroys everything, objects as the state has them, and the sources of such inputs may be
// destroyed already.
func (p *Plan) LeavesUnknown() bool { return p.Mode == engine.Destroy }

// UnknownInputs returns the names of the root variables that were not known while planning, sorted.
func (p *Plan) UnknownInputs() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		if p.Inputs[name].IsUnknown() {
			names = append(names, name)
		}
	}
	return names
}

// OutputChange is the change of a root output.
type OutputChange struct {
	Action Action
	Before cty.Value // null when the output is not in the prior state
	After  cty.Value // may be unknown. Marks: sensitive
}

// Component is the plan of one component instance.
type Component struct {
	Addr   stackaddrs.AbsComponentInstance
	Source string // as written in the configuration

	Action    Action
	Mode      engine.Mode
	Applyable bool
	Complete  bool

	DeferredReason string // why it is not complete, or ""

	Requires []stackaddrs.AbsComponent // sorted

	// Inputs are the values planned with. May be unknown; ephemeral ones are
	// null. Marks: sensitive.
	Inputs map[string]cty.Value

	// Outputs are the values that others see while planning. May be unknown.
	// Marks: sensitive.
	Outputs map[string]cty.Value

	Changes  []*engine.Change        // sorted by address, no-op included
	Drift    []*engine.Change        // sorted by address
	Deferred []engine.DeferredChange // sorted by address
	Checks   []engine.CheckResult

	// Invocations are the actions that changes trigger, DeferredInvocations those that deferred ones
	// would. Sorted by their triggers.
	Invocations         []*engine.Invocation
	DeferredInvocations []engine.DeferredInvocation

	// Engine is the engine that has planned it, for a reason of its own or that of the whole plan.
	// Zero if it was not planned.
	Engine engine.Info
	Reason engine.Reason

	// EnginePlan is the part of the engine's own plan that it needs besides all this to apply. Empty
	// when there is nothing for it to do; the component's state then becomes RefreshedState.
	EnginePlan     []byte
	RefreshedState engine.State

	// BaseState is the state that the engine's plan was made from, if that is not the state of the
	// component before the plan.
	BaseState engine.State

	// Generated are the resource blocks that were made for objects to import; see
	// [engine.PlanRequest]. They are not part of plan files.
	Generated []engine.Generated
}

// Result returns the plan as the engine that made it gets it back.
func (c *Component) Result() *engine.PlanResult {
	return &engine.PlanResult{
		Engine: c.Engine, Reason: c.Reason, Plan: c.EnginePlan, Applyable: c.Applyable, Complete: c.Complete,
		Outputs: c.Outputs, Changes: c.Changes, Drift: c.Drift, Deferred: c.Deferred, Checks: c.Checks,
		Invocations: c.Invocations, DeferredInvocations: c.DeferredInvocations, RefreshedState: c.RefreshedState,
	}
}

// PreviousAddress returns the address that the prior state has for a component instance. ok is
// false if that is not another one, or if there is nothing.
func (p *Plan) PreviousAddress(addr stackaddrs.AbsComponentInstance) (previous stackaddrs.AbsComponentInstance, ok bool) {
	for _, moved := range p.Moved {
		if moved.To == addr {
			return moved.From, true
		}
	}
	return addr, false
}

// Counts are the numbers of a summary line, as in docs/language.md, section 7. As JSON they have
// the names of terraform's change_summary.
type Counts struct {
	Add    int `json:"add"`
	Change int `json:"change"`
	Remove int `json:"remove"`
	Import int `json:"import"`
	Move   int `json:"move"`
	Forget int `json:"forget"`
	Defer  int `json:"defer"` // left to a later plan

	// Invoke is how many actions are to be invoked, or were invoked without an error, and InvokeFailed
	// how many were invoked and have failed.
	Invoke       int `json:"action_invocation,omitempty"`
	InvokeFailed int `json:"action_fail,omitempty"`
}

// Plus adds up two counts.
func (c Counts) Plus(o Counts) Counts {
	return Counts{
		c.Add + o.Add, c.Change + o.Change, c.Remove + o.Remove, c.Import + o.Import,
		c.Move + o.Move, c.Forget + o.Forget, c.Defer + o.Defer, c.Invoke + o.Invoke, c.InvokeFailed + o.InvokeFailed,
	}
}

// Total is the number of all things counted.
func (c Counts) Total() int {
	return c.Add + c.Change + c.Remove + c.Import + c.Move + c.Forget + c.Defer + c.Invoke + c.InvokeFailed
}

// Counts counts the planned changes of the component's resources.
func (c *Component) Counts() Counts {
	var n Counts
	for _, change := range c.Changes {
		n = n.Plus(CountChange(change))
	}
	n.Defer, n.Invoke = len(c.Deferred), len(c.Invocations)
	return n
}

// Counts counts the planned changes of all components.
func (p *Plan) Counts() Counts {
	var n Counts
	for _, c := range p.Components {
		n = n.Plus(c.Counts())
	}
	return n
}

// CountChange counts the planned change of one resource instance object.
func CountChange(c *engine.Change) Counts {
	var n Counts
	if c.IsMove() {
		n.Move = 1
	}
	if c.Importing != nil {
		n.Import = 1
	}
	switch {
	case c.Action.Replaces():
		n.Add, n.Remove = 1, 1
	case c.Action == engine.ActionCreate:
		n.Add = 1
	case c.Action == engine.ActionUpdate:
		n.Change = 1
	case c.Action == engine.ActionDelete:
		n.Remove = 1
	case c.Action == engine.ActionForget:
		n.Forget = 1
	case c.Action.ForgetsOld():
		n.Add, n.Forget = 1, 1
	}
	return n
}
