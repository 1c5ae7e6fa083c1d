// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Prior is a value of the root as the prior state has it.
type Prior struct {
	Value   cty.Value
	Existed bool
}

// PriorOf returns the prior value of a name.
func PriorOf(values map[string]cty.Value, name string) Prior {
	value, existed := values[name]
	return Prior{value, existed}
}

// action compares the value with the planned one. Before is null if there was none.
func (p Prior) action(after cty.Value) (action stackplan.Action, before cty.Value) {
	switch {
	case !p.Existed:
		return stackplan.Create, cty.NullVal(cty.DynamicPseudoType)
	case p.Value.RawEquals(after):
		return stackplan.NoOp, p.Value
	default:
		return stackplan.Update, p.Value
	}
}

// InputChange plans an input variable of the root. That of an ephemeral one is an update, since
// nobody knows its prior value.
func InputChange(prior Prior, after cty.Value, ephemeral bool) *stackplan.InputChange {
	change := &stackplan.InputChange{After: after}
	change.Action, change.Before = prior.action(after)
	if prior.Existed && ephemeral {
		change.Action = stackplan.Update
	}
	return change
}

// OutputChange plans an output value of the root. An apply that did not find out the prior value
// has not made it.
func OutputChange(prior Prior, after cty.Value) *stackplan.OutputChange {
	change := &stackplan.OutputChange{After: after}
	prior.Existed = prior.Existed && prior.Value.IsKnown()
	change.Action, change.Before = prior.action(after)
	if change.Action == stackplan.NoOp && !after.IsWhollyKnown() {
		change.Action = stackplan.Update // from a value that the last apply could not compute
	}
	return change
}

// DropUndeclared plans to drop values of the root that the prior state has, and the configuration
// does not declare.
func DropUndeclared[I, O any](
	plan *stackplan.Plan, inputs, outputs map[string]cty.Value, declaredInputs map[string]I, declaredOutputs map[string]O,
) {
	null := cty.NullVal(cty.DynamicPseudoType)
	for name, before := range inputs {
		if _, declared := declaredInputs[name]; !declared {
			plan.Inputs[name] = &stackplan.InputChange{Action: stackplan.Delete, Before: before, After: null}
		}
	}
	for name, before := range outputs {
		if _, declared := declaredOutputs[name]; !declared {
			plan.Outputs[name] = &stackplan.OutputChange{Action: stackplan.Delete, Before: before, After: null}
		}
	}
}

// KeepUnknownOutputs plans no change of outputs that are not known because of excluded components.
// Without it, a part of a stack of which nothing changes would have something to apply forever.
func KeepUnknownOutputs(plan *stackplan.Plan, prior map[string]cty.Value) {
	changes := func(c *stackplan.Component) bool { return c.Action != stackplan.NoOp }
	if !plan.Partial || !plan.Complete || slices.ContainsFunc(plan.Components, changes) {
		return
	}
	for name, output := range plan.Outputs {
		before, existed := prior[name]
		if existed && before.RawEquals(output.After) { // also one that no apply has got to yet, which is planned as new
			output.Action, output.Before = stackplan.NoOp, before
		}
	}
}
