// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package graph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/operation/graph"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

func parse[A any](t *testing.T, parser func(string) (A, error), text string) A {
	t.Helper()
	addr, err := parser(text)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// The planned actions for the instances of a component are joined.
func TestOfPlan(t *testing.T) {
	instance := func(addr string, action stackplan.Action, complete bool, requires ...string) *stackplan.Component {
		c := &stackplan.Component{Addr: parse(t, stackaddrs.ParseAbsComponentInstance, addr), Action: action, Complete: complete}
		for _, text := range requires {
			c.Requires = append(c.Requires, parse(t, stackaddrs.ParseAbsComponent, text))
		}
		return c
	}
	a, b, c := parse(t, stackaddrs.ParseAbsComponent, "component.a"), parse(t, stackaddrs.ParseAbsComponent, "component.b"),
		parse(t, stackaddrs.ParseAbsComponent, "component.c")
	plan := &stackplan.Plan{Applyable: true, Components: []*stackplan.Component{
		instance(`component.b["x"]`, stackplan.Update, true, "component.c", "component.a"),
		instance(`component.b["y"]`, stackplan.Create, false, "component.a"),
		instance(`component.b["z"]`, stackplan.Update, true),
		instance(`component.a`, stackplan.NoOp, true),
	}}
	want := graph.Graph{Components: []graph.Component{
		{Addr: a, Planned: &graph.Planned{Actions: []stackplan.Action{stackplan.NoOp}}},
		{
			Addr: b, Requires: []stackaddrs.AbsComponent{a, c},
			Planned: &graph.Planned{Actions: []stackplan.Action{stackplan.Create, stackplan.Update}, Deferred: true},
		},
	}}
	if diff := cmp.Diff(want, graph.OfPlan(plan), cmp.Comparer(func(a, b stackaddrs.AbsComponent) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	plan.Applyable = false // there were errors
	if planned := graph.OfPlan(plan).Components[1].Planned; planned.Deferred || !planned.Failed {
		t.Errorf("of a plan with errors: %+v", planned)
	}
}
