// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package document

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deferral"
	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/document/terraformjson"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Plan is the document of a plan.
type Plan struct {
	FormatVersion string                  `json:"format_version"`
	ID            string                  `json:"id,omitempty"` // by which the history names it
	CairnVersion  string                  `json:"cairn_version"`
	Engine        Engine                  `json:"engine"`
	Mode          string                  `json:"mode"`
	Applyable     bool                    `json:"applyable"`
	Complete      bool                    `json:"complete"`
	Variables     map[string]Variable     `json:"variables"`
	Components    []PlanComponent         `json:"components"`
	Moved         []Moved                 `json:"moved,omitempty"`
	OutputChanges map[string]OutputChange `json:"output_changes"`
	Diagnostics   []diagnostic.Diagnostic `json:"diagnostics"`
}

// Moved is a component instance that gets another address.
type Moved struct {
	Address         string `json:"address"`
	PreviousAddress string `json:"previous_address"`
}

// Variable is a root variable. Value is null for ephemeral ones.
type Variable struct {
	Value        any  `json:"value"`
	AfterUnknown any  `json:"after_unknown,omitempty"` // of plans, where the value was not known in whole
	Sensitive    bool `json:"sensitive,omitempty"`
}

// PlanComponent is the plan of a component instance.
type PlanComponent struct {
	Address        string                     `json:"address"`
	PreviousAddr   string                     `json:"previous_address,omitempty"`
	Component      string                     `json:"component"` // without the stack and the key
	Stack          string                     `json:"stack"`     // stack instance, "" for the root
	Key            any                        `json:"key,omitempty"`
	Source         string                     `json:"source"`
	Engine         *Engine                    `json:"engine,omitempty"` // missing if it was not planned
	Action         string                     `json:"action"`
	Complete       bool                       `json:"complete"`
	DeferredReason string                     `json:"deferred_reason,omitempty"`
	Requires       []string                   `json:"requires"`
	Inputs         map[string]any             `json:"inputs"`
	InputsUnknown  map[string]any             `json:"inputs_unknown"`
	Changes        []ResourceChange           `json:"resource_changes"`
	Drift          []ResourceChange           `json:"resource_drift"`
	Invocations    []ActionInvocation         `json:"action_invocations,omitempty"`
	OutputChanges  map[string]OutputChange    `json:"output_changes"`
	Checks         []tfjson.CheckResultStatic `json:"checks"`
}

// ResourceChange is terraform's, with the reason why it was deferred.
type ResourceChange struct {
	*tfjson.ResourceChange
	DeferredReason string `json:"deferred_reason,omitempty"`
}

// ActionInvocation is terraform's, with the reason why it was deferred.
type ActionInvocation struct {
	terraformjson.ActionInvocation
	DeferredReason string `json:"deferred_reason,omitempty"`
}

// OutputChange is the change of an output, as in terraform's plans.
type OutputChange struct {
	Actions         []string `json:"actions"`
	Before          any      `json:"before"`
	After           any      `json:"after"`
	AfterUnknown    any      `json:"after_unknown"`
	BeforeSensitive any      `json:"before_sensitive"`
	AfterSensitive  any      `json:"after_sensitive"`
}

// PlanOptions are the parts of the document that a plan itself does not have.
type PlanOptions struct {
	CairnVersion string
	Identity     string // of a saved plan

	// Prior is the state that was planned against. Nil if there was none.
	Prior *stackstate.State

	Diagnostics hcl.Diagnostics
	Sources     diagnostic.Sources
}

// actionError is the action of a component that could not be planned.
const actionError = "error"

// NewPlan returns the document of a plan.
func NewPlan(plan *stackplan.Plan, options PlanOptions) Plan {
	doc := Plan{
		FormatVersion: FormatVersion, ID: stackplan.ShortIdentity(options.Identity), CairnVersion: options.CairnVersion,
		Engine: NewEngine(plan.Engine, plan.Reason), Mode: plan.Mode.String(),
		Applyable: plan.Applyable, Complete: plan.Complete,
		Variables: map[string]Variable{}, Components: []PlanComponent{}, OutputChanges: map[string]OutputChange{},
		Diagnostics: diagnostic.All(options.Diagnostics, options.Sources),
	}
	for name, input := range plan.Inputs {
		planned := variable(input.After)
		if unknown := unknownTree(input.After); unknown != false {
			planned.AfterUnknown = unknown
		}
		doc.Variables[name] = planned
	}
	for name, output := range plan.Outputs {
		doc.OutputChanges[name] = newOutputChange(output.Action, output.Before, output.After)
	}
	if options.Prior != nil {
		options.Prior = options.Prior.Renamed(plan.Moved)
	}
	for _, moved := range plan.Moved {
		doc.Moved = append(doc.Moved, Moved{moved.To.String(), moved.From.String()})
	}
	for _, c := range plan.Components {
		doc.Components = append(doc.Components, newPlanComponent(plan, c, options.Prior))
	}
	slices.SortStableFunc(doc.Components, func(a, b PlanComponent) int { return strings.Compare(a.Address, b.Address) })
	return doc
}

func variable(v cty.Value) Variable {
	return Variable{Value: terraformjson.Value(v), Sensitive: marks.Contains(v, marks.Sensitive)}
}

func newPlanComponent(plan *stackplan.Plan, c *stackplan.Component, prior *stackstate.State) PlanComponent {
	result := PlanComponent{
		Address:   c.Addr.String(),
		Component: c.Addr.Item.Component.String(),
		Stack:     stackText(c.Addr.Stack),
		Key:       keyJSON(c.Addr.Item.Key),
		Source:    c.Source,
		Action:    componentAction(plan, c),
		Complete:  c.Complete, DeferredReason: deferral.Reason(plan, c),
		Requires: addresses(c.Requires),
		Inputs:   map[string]any{}, InputsUnknown: map[string]any{},
		Changes: resourceChanges(c.Changes, c.Deferred), Drift: resourceChanges(c.Drift, nil),
		Invocations:   actionInvocations(c),
		OutputChanges: componentOutputs(c, prior),
		Checks:        terraformjson.Checks(c.Checks),
	}
	if c.Engine != (engine.Info{}) {
		own := EngineOf(c, plan.Reason)
		result.Engine = &own
	}
	if previous, ok := plan.PreviousAddress(c.Addr); ok {
		result.PreviousAddr = previous.String()
	}
	for name, v := range c.Inputs {
		if v.IsKnown() {
			result.Inputs[name] = terraformjson.Value(v)
		}
		if unknown := unknownTree(v); unknown != false {
			result.InputsUnknown[name] = unknown
		}
	}
	slices.SortStableFunc(result.Checks, func(a, b tfjson.CheckResultStatic) int {
		return strings.Compare(a.Address.ToDisplay, b.Address.ToDisplay)
	})
	return result
}

// componentAction is "error" for a component that was neither planned nor deferred.
func componentAction(plan *stackplan.Plan, c *stackplan.Component) string {
	if deferral.Failed(plan, c) {
		return actionError
	}
	return string(c.Action)
}

func stackText(stack stackaddrs.StackInstance) string {
	if stack.IsRoot() {
		return ""
	}
	return stack.String()
}

// keyJSON returns nil for an instance without a key, and "*" for all those not known yet.
func keyJSON(key stackaddrs.InstanceKey) any {
	if key.IsWildcard() {
		return "*"
	}
	return terraformjson.Value(key.Value())
}

func addresses(addrs []stackaddrs.AbsComponent) []string {
	list := make([]string, len(addrs))
	for i, addr := range addrs {
		list[i] = addr.String()
	}
	slices.Sort(list)
	return list
}

func resourceChanges(changes []*engine.Change, deferred []engine.DeferredChange) []ResourceChange {
	list := make([]ResourceChange, 0, len(changes)+len(deferred))
	for _, change := range changes {
		list = append(list, ResourceChange{ResourceChange: terraformjson.ResourceChange(change)})
	}
	for _, d := range deferred {
		list = append(list, ResourceChange{terraformjson.ResourceChange(d.Change), d.Reason})
	}
	slices.SortStableFunc(list, func(a, b ResourceChange) int {
		return cmp.Or(strings.Compare(a.Address, b.Address), strings.Compare(a.DeposedKey, b.DeposedKey))
	})
	return list
}

func actionInvocations(c *stackplan.Component) []ActionInvocation {
	var list []ActionInvocation
	for _, i := range c.Invocations {
		list = append(list, ActionInvocation{ActionInvocation: terraformjson.Invocation(i)})
	}
	for _, d := range c.DeferredInvocations {
		list = append(list, ActionInvocation{terraformjson.Invocation(d.Invocation), d.Reason})
	}
	return list
}

// componentOutputs compares the outputs of a component with those of the last apply.
func componentOutputs(c *stackplan.Component, prior *stackstate.State) map[string]OutputChange {
	var before map[string]cty.Value
	if prior != nil && prior.Components[c.Addr] != nil {
		before = prior.Components[c.Addr].Outputs
	}
	after := c.Outputs
	if c.Action == stackplan.Delete || c.Action == stackplan.Forget {
		after = nil
	}
	before = maps.Clone(before)
	maps.DeleteFunc(before, func(_ string, value cty.Value) bool { return !value.IsKnown() }) // the apply did not get to it
	result := map[string]OutputChange{}
	for name := range maps.Keys(before) {
		if _, ok := after[name]; !ok {
			result[name] = newOutputChange(stackplan.Delete, before[name], cty.NilVal)
		}
	}
	for name, value := range after {
		old, ok := before[name]
		action := stackplan.Update
		switch {
		case !ok:
			action = stackplan.Create
		case value.IsWhollyKnown() && value.RawEquals(old):
			action = stackplan.NoOp
		}
		result[name] = newOutputChange(action, old, value)
	}
	return result
}

func newOutputChange(action stackplan.Action, before, after cty.Value) OutputChange {
	change := OutputChange{
		Actions: []string{string(action)},
		Before:  terraformjson.Value(before), After: terraformjson.Value(after), AfterUnknown: unknownTree(after),
		BeforeSensitive: sensitiveTree(before), AfterSensitive: sensitiveTree(after),
	}
	if action == stackplan.Delete && before != cty.NilVal { // terraform says it of the output, not of the value
		change.AfterSensitive = marks.Contains(before, marks.Sensitive)
	}
	return change
}
