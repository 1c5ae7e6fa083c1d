// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

// Group is a set of nodes that belong together.
type Group struct {
	Name  string
	Nodes []int
}

// Kind is the kind of a node, by which pictures tell nodes apart; "" if there is only one kind.
type Kind string

// The kinds of nodes.
const (
	StackKind Kind = "stack"
	TaskKind  Kind = "task"
	PlanKind  Kind = "plan"  // the plan of a stack
	ApplyKind Kind = "apply" // and its apply
)

// frames returns the groups of which pictures can draw frames, with their selected nodes: of any
// two, one holds all of the other, or they have nothing in common. Of groups that overlap, the
// first is drawn.
func (v View) frames() []Group {
	holders := map[int][]int{} // the frames so far, by node
	var frames []Group
	for _, group := range v.Groups {
		var nodes []int
		for _, n := range group.Nodes {
			if v.Selected.Has(n) && !v.Graph.Node(n).Anchor {
				nodes = append(nodes, n)
			}
		}
		common := map[int]int{} // number of nodes, by frame
		for _, n := range nodes {
			for _, frame := range holders[n] {
				common[frame]++
			}
		}
		fits := len(nodes) > 0
		for frame, count := range common {
			fits = fits && (count == len(nodes) || count == len(frames[frame].Nodes))
		}
		if !fits {
			continue
		}
		for _, n := range nodes {
			holders[n] = append(holders[n], len(frames))
		}
		frames = append(frames, Group{group.Name, nodes})
	}
	return frames
}

// groupsOf returns the names of all groups of each node.
func (v View) groupsOf() map[int][]string {
	names := map[int][]string{}
	for _, group := range v.Groups {
		for _, n := range group.Nodes {
			names[n] = append(names[n], group.Name)
		}
	}
	return names
}
