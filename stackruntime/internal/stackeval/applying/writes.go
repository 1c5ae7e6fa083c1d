// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"bytes"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Writes returns the component instances of a plan, in its order, whose records an apply may change
// in a state: also those for which the engine has nothing to do, but of which the state would have
// other inputs, outputs, objects or neighbours. It is for the state before any move of the plan.
func Writes(plan *stackplan.Plan, prior *stackstate.State) []stackaddrs.AbsComponentInstance {
	o := newOrder(plan, prior)
	var written []stackaddrs.AbsComponentInstance
	for _, c := range plan.Components {
		if !o.stays(c) {
			written = append(written, c.Addr)
		}
	}
	for _, addr := range plan.Removed {
		if prior.Components[addr] != nil {
			written = append(written, addr)
		}
	}
	return written
}

// stays reports whether the record of an instance is certainly the same after the apply.
func (o *order) stays(c *stackplan.Component) bool {
	before := o.prior.Components[c.Addr]
	if before == nil {
		return ends(c) || c.Mode.KeepsObjects() // which leave no trace
	}
	dependents := recordable(o.dependents[stackaddrs.ComponentOf(c.Addr)])
	return c.Action == stackplan.NoOp && c.Complete && len(c.EnginePlan) == 0 &&
		bytes.Equal(c.RefreshedState, before.Module) &&
		sameValues(c.Inputs, before.Inputs) && sameValues(c.Outputs, before.Outputs) &&
		slices.Equal(recordable(c.Requires), before.Dependencies) && slices.Equal(dependents, before.Dependents)
}

func sameValues(a, b map[string]cty.Value) bool {
	return maps.EqualFunc(a, b, func(a, b cty.Value) bool { return a.IsWhollyKnown() && a.RawEquals(b) })
}
