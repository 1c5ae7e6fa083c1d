// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/order"
)

// RolloutOptions are the selection of leaves of a phased graph, and the options of the work on
// them.
type RolloutOptions struct {
	Root     string // of the repository, an absolute path
	Selected map[*Leaf]bool
	Reasons  func(*Leaf) []string // why a leaf is selected
	Tasks    bool                 // run tasks, too

	// ByOutputs is as in [Changes]; nil if changes do not matter.
	ByOutputs map[*Leaf][]*Leaf
}

var _ rollout.Conditions = (*Graph)(nil)

// Rollout returns the work on the selected leaves.
func (g *Graph) Rollout(o RolloutOptions) *rollout.Work {
	work := &rollout.Work{
		Graph: g.Graph, Rule: g.Rule(), Selected: make(order.Selection, g.Len()),
		Limits: g.Limits(), Conditions: g, PlansAhead: true,
	}
	units := map[*Leaf]int{}
	for _, n := range g.Sequence(g.Rule(), nil) {
		leaf := g.Steps[n].Leaf
		if _, known := units[leaf]; known {
			continue
		}
		units[leaf] = len(work.Units)
		work.Units = append(work.Units, g.Model.unit(leaf, o))
	}
	for leaf, of := range o.ByOutputs {
		if !slices.ContainsFunc(of, func(other *Leaf) bool { return !o.Selected[other] }) { // otherwise nobody will know
			for _, other := range of {
				unit := &work.Units[units[leaf]]
				unit.OnlyByOutputs = append(unit.OnlyByOutputs, units[other])
			}
		}
	}
	for _, leaf := range g.Model.Leaves {
		unit := &work.Units[units[leaf]]
		unit.Inputs = g.Model.inputsOf(leaf, o.Root, units)
		for _, publisher := range g.Model.publishers[leaf.Block] {
			unit.Publishers = append(unit.Publishers, units[g.Model.leaves[publisher]])
		}
	}
	for n, step := range g.Steps {
		if step.Leaf == nil {
			work.Steps = append(work.Steps, rollout.Step{})
			continue
		}
		work.Selected[n] = o.Selected[step.Leaf] && (o.Tasks || step.Leaf.Task == nil)
		work.Steps = append(work.Steps, rollout.Step{Unit: units[step.Leaf], Phase: phaseOf[step.Phase]})
	}
	return work
}

var phaseOf = map[Phase]rollout.Phase{Plan: rollout.Plan, Apply: rollout.Apply, Whole: rollout.Run}

func (m *Model) unit(l *Leaf, o RolloutOptions) rollout.Unit {
	dir := l.Dir()
	unit := rollout.Unit{
		Name: l.Name, Kind: rollout.Command,
		Dir: filepath.Join(o.Root, filepath.FromSlash(dir)), Path: path.Clean(dir),
		Env: l.Environ(), AutoApply: l.AutoApply, Tags: l.tags(),
	}
	for _, group := range l.Groups {
		unit.Groups = append(unit.Groups, group.Name)
	}
	if o.Selected[l] {
		unit.Reasons = o.Reasons(l)
	}
	if l.Task != nil {
		unit.Task = &l.Task.Task
		unit.When = m.When(l)
		return unit
	}
	unit.Kind, unit.Deployment, unit.Workspace = l.Stack.Kind, l.Stack.Deployment, l.Stack.Workspace
	unit.Destroyed = l.Stack.destroy != nil
	unit.VarFiles = l.VarFiles(o.Root)
	if l.Stack.Kind == rollout.Components {
		unit.Env = l.environ("CAIRN_VAR_") // which the engine of a stack does not hand on to providers
	}
	return unit
}

// Precedes returns the applies that a task has to come before because it says prereq, also by way
// of other tasks.
func (g *Graph) Precedes(node int) []int {
	var applies []int
	for _, c := range g.conditions[node] {
		if c.rel != Prereq {
			continue
		}
		for _, target := range c.targets {
			for _, stack := range g.plansBehind(target) {
				if !slices.Contains(applies, stack.apply) {
					applies = append(applies, stack.apply)
				}
			}
		}
	}
	return applies
}

// AtFailure reports whether a node waits for failures.
func (g *Graph) AtFailure(node int) bool {
	return slices.ContainsFunc(g.conditions[node], func(c condition) bool { return c.rel == OnFail })
}
