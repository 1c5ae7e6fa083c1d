// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/internal/deferral"
	"github.com/cairnstacks/cairn/internal/views/valuediff"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// PlannedComponent is a component of a plan, for other forms than text.
type PlannedComponent struct {
	*stackplan.Component

	Verb    string // goes on after the address
	Changes []PlannedChange
}

// PlannedChange is a change of a resource instance in it: one that is planned, one that others have
// made, or one that is deferred.
type PlannedChange struct {
	Symbol string
	Drift  bool
	Lines  []string // what is done, and why; the first begins with the address

	change *engine.Change
	view   resourceView
}

// Address is that of the resource instance in its module.
func (c PlannedChange) Address() string { return c.change.Address() }

// Values are those before and after.
func (c PlannedChange) Values() valuediff.Change {
	if c.change.Action == "" {
		return valuediff.Change{}
	}
	return c.view.change(c.change, kindOf(c.change.Action))
}

// PlannedComponents returns the components of which the text of a plan shows more than their names,
// in the order of the plan.
func PlannedComponents(plan *stackplan.Plan) []PlannedComponent {
	var all []PlannedComponent
	for _, c := range plan.Components {
		isDeferred, isChanged := deferral.IsDeferred(plan, c), changes(plan, c)
		if !isChanged && !isDeferred && !hasDrift(c) {
			continue
		}
		one := PlannedComponent{Component: c, Verb: "has changed outside"}
		switch {
		case isDeferred:
			one.Verb = "is deferred: " + deferral.ComponentText(plan, c)
		case isChanged:
			one.Verb = componentVerb(plan, c)
		}
		for _, change := range visibleDrift(c) {
			one.add(change, resourceView{drift: true})
		}
		for _, change := range visibleChanges(c) {
			one.add(change, resourceView{})
		}
		sorted := slices.Clone(c.Deferred)
		engine.SortDeferred(sorted)
		for _, deferred := range sorted {
			one.add(deferred.Change, resourceView{deferredReason: deferral.ResourceText(c, deferred)})
		}
		all = append(all, one)
	}
	return all
}

func (p *PlannedComponent) add(change *engine.Change, view resourceView) {
	kind := kindOf(change.Action)
	p.Changes = append(p.Changes, PlannedChange{kind.symbol, view.drift, view.comments(change, kind), change, view})
}

// PlannedOutputs returns the rows of the outputs of the stack that change.
func PlannedOutputs(plan *stackplan.Plan, letters int) []valuediff.Row {
	var rows []valuediff.Row
	for _, name := range slices.Sorted(maps.Keys(plan.Outputs)) {
		if output := plan.Outputs[name]; output.Action != stackplan.NoOp {
			rows = append(rows, valuediff.NamedRows(name, outputChange(output), letters)...)
		}
	}
	return rows
}
