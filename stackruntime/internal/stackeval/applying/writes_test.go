// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// A record stays only if nothing of it can be another one after the apply.
func TestWrites(t *testing.T) {
	values := func(value cty.Value) map[string]cty.Value { return map[string]cty.Value{"v": value} }
	for name, change := range map[string]func(plan *stackplan.Component, state *stackstate.State){
		"":                   func(*stackplan.Component, *stackstate.State) {},
		"an action":          func(plan *stackplan.Component, _ *stackstate.State) { plan.Action = stackplan.Update },
		"work for an engine": func(plan *stackplan.Component, _ *stackstate.State) { plan.EnginePlan = []byte("x") },
		"not all planned":    func(plan *stackplan.Component, _ *stackstate.State) { plan.Complete = false },
		"other objects":      func(plan *stackplan.Component, _ *stackstate.State) { plan.RefreshedState = []byte("{}") },
		"another input":      func(plan *stackplan.Component, _ *stackstate.State) { plan.Inputs = values(cty.StringVal("other")) },
		"an unknown input":   func(plan *stackplan.Component, _ *stackstate.State) { plan.Inputs = values(cty.UnknownVal(cty.String)) },
		"another output":     func(plan *stackplan.Component, _ *stackstate.State) { plan.Outputs = nil },
		"requires another": func(plan *stackplan.Component, _ *stackstate.State) {
			plan.Requires = []stackaddrs.AbsComponent{component("other")}
		},
		"new to the state": func(plan *stackplan.Component, state *stackstate.State) { delete(state.Components, plan.Addr) },
		"a new dependent": func(plan *stackplan.Component, state *stackstate.State) {
			state.Components[plan.Addr].Dependents = nil
		},
	} {
		addr := stackaddrs.InstanceOf(component("a"), stackaddrs.NoKey)
		user := stackaddrs.InstanceOf(component("user"), stackaddrs.NoKey)
		state := stackstate.New()
		state.Components[addr] = &stackstate.Component{
			Addr: addr, Inputs: values(cty.StringVal("in")), Outputs: values(cty.StringVal("out")), Module: []byte("state"),
			Dependents: []stackaddrs.AbsComponent{component("user")},
		}
		state.Components[user] = &stackstate.Component{Addr: user, Dependencies: []stackaddrs.AbsComponent{component("a")}}
		plan := &stackplan.Component{
			Addr: addr, Action: stackplan.NoOp, Complete: true, RefreshedState: []byte("state"),
			Inputs: values(cty.StringVal("in")), Outputs: values(cty.StringVal("out")),
		}
		change(plan, state)
		written := Writes(&stackplan.Plan{Components: []*stackplan.Component{plan}}, state)
		if (len(written) == 1) != (name != "") {
			t.Errorf("%q: %s may be written", name, written)
		}
	}
	gone := stackaddrs.InstanceOf(component("gone"), stackaddrs.NoKey)
	state := stackstate.New()
	plan := &stackplan.Plan{
		Components: []*stackplan.Component{{Addr: gone, Action: stackplan.Delete, Complete: true}},
		Removed:    []stackaddrs.AbsComponentInstance{gone},
	}
	if written := Writes(plan, state); len(written) != 0 {
		t.Errorf("%s may be written, of which there is nothing", written)
	}
}
