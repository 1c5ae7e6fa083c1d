// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import "github.com/cairnstacks/cairn/internal/fleet"

// reach returns the leaves that the graph adds to a selection. Nothing is added for the tasks that
// go along with it, since nobody has asked for them. A leaf that only a stage, or the end of
// everything, puts after others does not depend on them.
func (m *Model) reach(along fleet.Along, selected map[*Leaf]bool, going map[*Leaf]Cause) map[*Leaf]Cause {
	if !along.Any() {
		return nil
	}
	graph, diags := m.Graph(false)
	if diags.HasErrors() {
		return nil // a caller that needs the order reports them
	}
	numbers, from := map[*Leaf]int{}, map[int]bool{}
	for i, leaf := range m.Leaves {
		numbers[leaf] = i
		_, goes := going[leaf]
		from[i] = selected[leaf] && !goes
	}
	ofGroup := map[int]bool{}
	for block, nodes := range graph.bounds {
		if block.Type == GroupType {
			ofGroup[nodes.first], ofGroup[nodes.done] = true, true
		}
	}
	reached := map[*Leaf]Cause{}
	for i, added := range along.Add(fleet.Walk{
		Graph: graph.Graph,
		Unit: func(n int) int {
			if leaf := graph.Steps[n].Leaf; leaf != nil {
				return numbers[leaf]
			}
			return fleet.NoUnit
		},
		Through: func(n int) bool { return ofGroup[n] },
		Name:    func(i int) string { return m.Leaves[i].Name },
	}, from) {
		reached[m.Leaves[i]] = Cause{Text: added.Text, By: m.Leaves[added.By], Place: added.Place}
	}
	return reached
}

// names are those of all leaves.
func (m *Model) names() []string {
	names := make([]string, len(m.Leaves))
	for i, leaf := range m.Leaves {
		names[i] = leaf.Name
	}
	return names
}
