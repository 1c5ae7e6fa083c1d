// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package components_test

import (
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

func component(name string) stackaddrs.AbsComponent {
	return stackaddrs.AbsComponent{Stack: stackaddrs.RootStackInstance, Item: stackaddrs.Component{Name: name}}
}

func names(all []stackaddrs.AbsComponent) string {
	var found []string
	for _, one := range all {
		found = append(found, one.Item.Name)
	}
	return strings.Join(found, " ")
}

func TestGraph(t *testing.T) {
	graph := components.Graph{}
	for _, edge := range []string{"app db", "app cache", "db net", "cache net"} {
		from, to, _ := strings.Cut(edge, " ")
		graph.Add(component(from), component(to))
	}
	app, net := stackaddrs.InstanceOf(component("app"), stackaddrs.NoKey), stackaddrs.InstanceOf(component("net"), stackaddrs.NoKey)
	if got := names(graph.Reach([]stackaddrs.AbsComponentInstance{app}).Sorted()); got != "cache db net" {
		t.Errorf("app requires %s", got)
	}
	if got := names(graph.Reversed().Reach([]stackaddrs.AbsComponentInstance{net}).Sorted()); got != "app cache db" {
		t.Errorf("net is required by %s", got)
	}
	if got := names(graph.Sorted()[component("app")]); got != "cache db" {
		t.Errorf("app leads to %s", got)
	}
}

// Components that depend on each other by the records of different applies are in one cycle.
func TestRecordedCycles(t *testing.T) {
	state := stackstate.New()
	for _, record := range []string{"a: b", "b: a c", "c:", `b["k"]: d`, "d:"} {
		name, dependents, _ := strings.Cut(record, ":")
		addr, err := stackaddrs.ParseAbsComponentInstance("component." + name)
		if err != nil {
			t.Fatal(err)
		}
		c := &stackstate.Component{Addr: addr}
		for dependent := range strings.FieldsSeq(dependents) {
			c.Dependents = append(c.Dependents, component(dependent))
		}
		state.Components[addr] = c
	}
	cycles := components.RecordedCycles(state)
	number := func(name string) int { return cycles[component(name)] }
	if number("a") != number("b") {
		t.Error("a and b are not in one cycle")
	}
	for _, alone := range []string{"c", "d"} {
		if number(alone) == number("a") {
			t.Errorf("%s is in the cycle of a and b", alone)
		}
	}
	if number("c") == number("d") {
		t.Error("c and d are in one cycle")
	}
}
