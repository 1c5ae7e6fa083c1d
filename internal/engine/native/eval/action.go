// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Action is an action in a module instance: the declarations of its block there.
type Action struct {
	Module *Module
	Config *module.Action

	expansion memo[Expansion]
}

// Action returns an action that the module declares, or nil.
func (m *Module) Action(typeName, name string) *Action { return m.actions[typeName+"."+name] }

// Addr returns the address of one of the instances.
func (a *Action) Addr(key stackaddrs.InstanceKey) stackaddrs.ActionInstance {
	return stackaddrs.ActionInstance{Module: a.Module.Addr, Type: a.Config.Type, Name: a.Config.Name, Key: key}
}

// Expand returns which instances the block declares.
func (a *Action) Expand(ctx context.Context) (Expansion, bool) {
	return a.Module.expand(ctx, &a.expansion, block{
		a.Config.Repeat, "action." + a.Config.Type + "." + a.Config.Name,
		&a.Config.Range,
		Place{},
	})
}

// Slot is [Resource.Slot].
func (a *Action) Slot(at Place) (engine.ProviderSlot, bool) {
	return a.Module.slot("action."+a.Config.Type+"."+a.Config.Name, a.Config.Provider, a.Config.ProviderAddr,
		Source{Range: a.Config.ProviderRange, Resource: at.Resource})
}

// Place returns where the expressions of an instance stand.
func (a *Action) Place(ctx context.Context, key stackaddrs.InstanceKey) (Place, bool) {
	x, ok := a.Expand(ctx)
	return Place{Repetition: x.Repetition(key)}, ok
}

// Caller is the resource for whose change an action is invoked. References of the action to it are
// about objects whose change may not be finished: waiting for that would be a cycle.
type Caller struct {
	Resource *Resource

	// Object returns the object of an instance, as [Objects] does, without waiting for the actions of
	// its change.
	Object func(ctx context.Context, key stackaddrs.InstanceKey) (cty.Value, bool)
}

// value returns the value of references to the caller.
func (c *Caller) value(ctx context.Context) (cty.Value, bool) {
	x, ok := c.Resource.Expand(ctx)
	if !ok {
		return cty.NilVal, false
	}
	if x.Unknown {
		return cty.DynamicVal, true
	}
	return x.join(func(key stackaddrs.InstanceKey) (cty.Value, bool) { return c.Object(ctx, key) })
}

// TriggeredBy returns the resources whose changes trigger the action.
func (a *Action) TriggeredBy() []*Resource {
	var found []*Resource
	for _, r := range a.Module.resources {
		if r.Config.Triggers(a.Config) {
			found = append(found, r)
		}
	}
	return found
}

// Triggers evaluates the condition of a trigger: whether it holds, and whether that is known.
func (r *Resource) Triggers(ctx context.Context, trigger *module.ActionTrigger, at Place) (holds, known, ok bool) {
	if trigger.Condition == nil {
		return true, true, true
	}
	result, ok := r.Module.Eval(ctx, trigger.Condition, at)
	if !ok {
		return false, false, false
	}
	reject := func(detail string) (bool, bool, bool) {
		return false, false, r.Module.eval.Diagnostics.AddTo(at.Resource, result.Error("Invalid action trigger condition", detail))
	}
	if marks.Contains(result.Value, marks.Ephemeral) {
		return reject("The trigger of an action cannot depend on an ephemeral value, which may be another one when the plan is applied.")
	}
	bare, _ := result.Value.UnmarkDeep()
	value, err := convert.Convert(bare, cty.Bool)
	switch {
	case err != nil:
		return reject("A condition must be true or false: " + marks.DescribeError(result.Value, err) + ".")
	case value.IsNull():
		return reject("A condition must be true or false, and is null.")
	case !value.IsKnown():
		return true, false, true
	}
	return value.True(), true, true
}
