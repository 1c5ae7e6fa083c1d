// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workspace

// WithTasks adds to a selection the tasks that go with it: those with a stage if there is any stack, and those that a rule joins with
// something that is selected, at any distance over tasks.
func (m *Model) WithTasks(selected map[*Leaf]bool) {
	anyStack := false
	for leaf := range selected {
		anyStack = anyStack || leaf.Stack != nil
	}
	joined := map[*Leaf][]*Leaf{}
	for _, r := range m.rules {
		for _, t := range r.targets {
			for _, a := range m.LeavesOf(t.block) {
				for _, b := range m.LeavesOf(r.of) {
					joined[a] = append(joined[a], b)
					joined[b] = append(joined[b], a)
				}
			}
		}
	}
	var queue []*Leaf
	for _, leaf := range m.Leaves {
		if anyStack && leaf.Task != nil && leaf.Task.Stage != nil {
			selected[leaf] = true
		}
		if selected[leaf] {
			queue = append(queue, leaf)
		}
	}
	for len(queue) > 0 {
		leaf := queue[0]
		queue = queue[1:]
		for _, other := range joined[leaf] {
			if other.Task != nil && !selected[other] {
				selected[other] = true
				queue = append(queue, other)
			}
		}
	}
}
