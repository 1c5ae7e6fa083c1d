// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import "fmt"

// Steps reports how the calls come to be made in the order of [Low.Sequence] (line C-09): which one
// is looked at, which ones it waits for or finds done, and when it is made.
func (l *Low) Steps() []string {
	w := &walk{Low: l, done: make([]bool, len(l.nodes))}
	for n := range l.nodes { // they are in the order of their calls, which is that of the numbers
		w.visit(n)
	}
	return w.steps
}

type walk struct {
	*Low
	done  []bool // by node
	steps []string
}

func (w *walk) step(format string, args ...any) {
	w.steps = append(w.steps, fmt.Sprintf(format, args...))
}

func (w *walk) visit(n int) {
	if w.done[n] {
		return
	}
	name := w.graph.Node(n).Name
	w.step("%s is looked at", name)
	for edge := range w.graph.Predecessors(n) {
		before := w.graph.Node(edge.From).Name
		if w.done[edge.From] {
			w.step("%s is done, which %s waits for", before, name)
			continue
		}
		w.step("%s is not done, which %s waits for", before, name)
		w.visit(edge.From)
	}
	w.done[n] = true
	if w.nodes[n].Trial {
		w.step("%s is tried", w.Calls[w.nodes[n].Call])
	} else {
		w.step("%s is made", name)
	}
}
