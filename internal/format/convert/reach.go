// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"maps"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/terrateam"
)

// waiting is an action on a dirspace that waits until others are applied.
type waiting struct {
	action   terrateam.Action
	dirspace int
	before   []int
}

// names lists them.
func (w waiting) names(name func(dirspace int) string) string {
	list := make([]string, len(w.before))
	for i, d := range w.before {
		list[i] = name(d)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// differences are the dependencies that one of two forms alone has, regardless of the rest of a
// run.
type differences struct{ onlyInWorkspace, onlyInGates []waiting }

// difference compares gates with the phased graph of a workspace file, each stack of which is a
// dirspace, or -1.
func difference(layout *terrateam.Layout, g *cairnfile.Graph, dirspace func(*cairnfile.Leaf) int) differences {
	var d differences
	if !mixed(layout) {
		return d
	}
	all := layout.Change(layout.All(""), terrateam.ChangeOptions{})
	for n, step := range g.Steps {
		if step.Leaf == nil || step.Leaf.Stack == nil || dirspace(step.Leaf) < 0 {
			continue
		}
		w := waiting{action: terrateam.Plan, dirspace: dirspace(step.Leaf)}
		if step.Phase == cairnfile.Apply {
			w.action = terrateam.Apply
		}
		inWorkspace := map[int]bool{}
		for _, leaf := range appliedBefore(g, n) {
			if before := dirspace(leaf); before >= 0 && before != w.dirspace {
				inWorkspace[before] = true
			}
		}
		inGates := w
		for _, before := range all.Before(w.action, w.dirspace) {
			if !inWorkspace[before] {
				inGates.before = append(inGates.before, before)
			}
			delete(inWorkspace, before)
		}
		if len(inGates.before) > 0 {
			d.onlyInGates = append(d.onlyInGates, inGates)
		}
		if w.before = slices.Collect(maps.Keys(inWorkspace)); len(w.before) > 0 {
			d.onlyInWorkspace = append(d.onlyInWorkspace, w)
		}
	}
	return d
}

// mixed reports whether gates can differ from those of a workspace file at all: of more than one
// kind, which only their own kind goes on through, or of a nested stack without members, which
// nothing goes on through.
func mixed(layout *terrateam.Layout) bool {
	kinds := map[string]bool{}
	for _, s := range layout.Stacks {
		if s.Nested && len(s.Members) == 0 {
			return true
		}
		kinds["plan"] = kinds["plan"] || len(s.Rules.PlanAfter) > 0
		kinds["apply"] = kinds["apply"] || len(s.Rules.ApplyAfter) > 0
	}
	for _, d := range layout.Dirspaces {
		kinds["depends"] = kinds["depends"] || d.DependsOn != nil
	}
	there := 0
	for _, is := range kinds {
		if is {
			there++
		}
	}
	return there > 1
}

// appliedBefore returns the stacks that are applied before a node.
func appliedBefore(g *cairnfile.Graph, node int) []*cairnfile.Leaf {
	var before []*cairnfile.Leaf
	seen := make([]bool, g.Len())
	for queue := []int{node}; len(queue) > 0; queue = queue[1:] {
		for edge := range g.Predecessors(queue[0]) {
			if seen[edge.From] {
				continue
			}
			seen[edge.From] = true
			queue = append(queue, edge.From)
			if step := g.Steps[edge.From]; step.Phase == cairnfile.Apply {
				before = append(before, step.Leaf)
			}
		}
	}
	return before
}
