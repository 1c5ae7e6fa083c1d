// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/order"
)

// Kind is the kind of a unit.
type Kind string

// The kinds of units.
const (
	Components Kind = "stack"     // a stack of the Terraform Stacks language
	Root       Kind = "terraform" // a plain root module
	Command    Kind = "task"
)

// Unit is a stack or root module that is planned and applied as a whole, or a task.
type Unit struct {
	Name  string // as users see it
	Stack string // of which it is a part; "" if it is a whole one
	Kind  Kind

	Dir  string // where programs run
	Path string // the same from the root of the repository, with slashes
	Home string // where a stack belongs if Dir has a copy of its configuration, as [operation.Options.Home]; "" for Dir

	Workspace  string // of a root module, "" for the default one
	Deployment string // of a stack, "" for the default one
	Destroyed  bool   // its deployment files say that an apply destroys it

	Env       []string // NAME=VALUE, besides the environment of this process
	VarFiles  []string // absolute paths
	AutoApply bool     // apply without being asked

	// Requirements are the names of conditions for applying it, and nobody can tell here whether they
	// are met.
	Requirements []string

	Task *Task // of kind Command

	// OnlyByOutputs are the units whose outputs are the only reason for this one: it is left alone if
	// none of these has changed when they have been applied. It comes after them. Empty if there is
	// another reason.
	OnlyByOutputs []int

	Inputs *Inputs // nil for none

	// Publishers are the units whose outputs it may have because they are published, as its deployment
	// files say. It comes after them.
	Publishers []int

	Tags    []string // sorted
	Groups  []string // that hold it
	Reasons []string // why it is selected
	When    string   // of a task, the condition under which it runs; "" if it always does
}

// StackName is the name of the stack of which a unit is all or a part; of a task, its own.
func (u *Unit) StackName() string { return cmp.Or(u.Stack, u.Name) }

// Task is a command that is not a plan and no apply.
type Task struct {
	Command  []string // program and arguments
	Reaction []string // the command after it if something that it watches has changed
	Timeout  time.Duration
	Retries  int
	Interval time.Duration // between tries
}

// Phase is a part of the work on a unit.
type Phase string

// The phases. A task has one, all others have two.
const (
	Plan  Phase = "plan"
	Apply Phase = "apply" // also of a destroyed unit
	Run   Phase = "run"
)

var phases = []Phase{Plan, Apply, Run}

// Step is the meaning of a node of the graph.
type Step struct {
	Unit  int   // position in [Work.Units]; meaningless without a phase
	Phase Phase // "" at anchors
}

// Work is a selection of steps to do, with their order. It does not change.
type Work struct {
	Graph    *order.Graph
	Rule     order.Rule
	Steps    []Step // by node
	Units    []Unit // in the order in which they are shown
	Selected order.Selection
	Limits   []order.Limit

	Conditions Conditions // nil if edges say everything

	// PlansAhead says that where nothing is applied, plans do not wait for applies: results of these
	// are unknown values.
	PlansAhead bool
}

// Conditions are a format's conditions for the steps of its units beyond edges. They do not change.
type Conditions interface {
	// Decide makes the function that [order.RunOptions] has under this name. Changed reports whether a
	// node that has ended has changed something, or a plan would.
	Decide(changed func(node int) bool) func(node int, result func(int) order.Result) order.Result

	// Reacts reports whether something that the task of a node watches has changed.
	Reacts(node int, changed func(node int) bool) bool

	// Precedes returns the nodes of the applies that a task comes before, as one that has to do with
	// these plans only.
	Precedes(node int) []int

	// AtFailure reports whether the task of a node waits for a failure.
	AtFailure(node int) bool
}

// Chosen returns the units with selected steps, in the order of their numbers.
func (w *Work) Chosen() []int {
	chosen := map[int]bool{}
	for n, step := range w.Steps {
		if step.Phase != "" && w.Selected.Has(n) {
			chosen[step.Unit] = true
		}
	}
	return slices.Sorted(maps.Keys(chosen))
}

// FirstRoot returns the first root module that is chosen, or that others which are chosen have
// values from: it needs the engine of root modules. It is nil if there is none.
func (w *Work) FirstRoot() *Unit {
	for _, chosen := range w.Chosen() {
		for _, unit := range append([]int{chosen}, w.Units[chosen].Upstream()...) {
			if u := &w.Units[unit]; u.Kind == Root {
				return u
			}
		}
	}
	return nil
}

// Batch holds the units whose steps are done together.
type Batch struct {
	Phase Phase
	Units []int
}

// Batches returns all steps: in turn everything is planned that may be, everything applied that may
// be, and all tasks are run that may be.
func (w *Work) Batches() []Batch {
	var batches []Batch
	kind := func(n int) int { return slices.Index(phases, w.Steps[n].Phase) }
	for _, nodes := range w.Graph.Batches(w.Selected, len(phases), kind) {
		batch := Batch{Phase: w.Steps[nodes[0]].Phase}
		for _, n := range nodes {
			batch.Units = append(batch.Units, w.Steps[n].Unit)
		}
		batches = append(batches, batch)
	}
	return batches
}

// After returns for each selected node the units that its phase waits for directly, as the
// selection leaves them, in the order of their numbers: the unit itself is left out, and so is one
// that another one of them comes after, and a unit of which only the plan comes before.
func (w *Work) After() map[int][]int {
	after := map[int][]int{}
	for _, edge := range w.Graph.Reduced(w.Selected, w.Graph.Len() <= maxReduced) {
		from, to := w.Steps[edge.From].Unit, w.Steps[edge.To].Unit
		if w.isPlannedBefore(edge.From, edge.To) {
			continue
		}
		if from != to && !slices.Contains(after[edge.To], from) {
			after[edge.To] = append(after[edge.To], from)
		}
	}
	for _, units := range after {
		slices.Sort(units)
	}
	return after
}

// isPlannedBefore reports whether an apply waits for no more of another unit than its plan.
func (w *Work) isPlannedBefore(from, to int) bool {
	return w.Steps[from].Phase == Plan && w.Steps[to].Phase == Apply && w.Steps[from].Unit != w.Steps[to].Unit
}

// maxReduced is the size of a graph up to which implied edges are left out, since that takes a bit
// for each pair of nodes.
const maxReduced = 20_000

// HeldBy returns the units that a phase of a unit waits for directly, the unit itself left out, and
// those that only have to be planned, in the order of their numbers.
func (w *Work) HeldBy(unit int, phase Phase) []int {
	holders, seen := map[int]bool{}, map[int]bool{}
	var queue []int
	for n, step := range w.Steps {
		if step.Unit == unit && step.Phase == phase {
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for edge := range w.Graph.Predecessors(n) {
			from := edge.From
			step := w.Steps[from]
			switch {
			case seen[from]:
				continue
			case step.Phase == "" || !w.Selected.Has(from) || step.Unit == unit || phase == Apply && step.Phase == Plan:
				queue = append(queue, from)
			default:
				holders[step.Unit] = true
			}
			seen[from] = true
		}
	}
	return slices.Sorted(maps.Keys(holders))
}

// limits are those of a run, whose units may be worked on apart from each other.
func (w *Work) limits(apart bool) []order.Limit {
	if apart {
		return w.Limits
	}
	return w.AllLimits()
}

// AllLimits are those of the work, and one for each directory in which there is more than one unit
// (rule R4).
func (w *Work) AllLimits() []order.Limit {
	units := map[string]map[int]bool{}
	nodes := map[string][]int{}
	for n, step := range w.Steps {
		if step.Phase != Plan && step.Phase != Apply {
			continue
		}
		dir := w.Units[step.Unit].Dir
		if units[dir] == nil {
			units[dir] = map[int]bool{}
		}
		units[dir][step.Unit] = true
		nodes[dir] = append(nodes[dir], n)
	}
	limits := slices.Clone(w.Limits)
	for _, dir := range slices.SortedFunc(maps.Keys(nodes), cmp.Compare[string]) {
		if len(units[dir]) > 1 {
			limits = append(limits, order.Limit{Parallel: 1, Nodes: nodes[dir]})
		}
	}
	return limits
}
