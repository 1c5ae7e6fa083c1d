// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugintasks

import (
	"fmt"
	"strconv"

	"github.com/cairnstacks/cairn/internal/order"
)

// Rule is how tasks are ordered that no other one is before: there are none, as each waits for
// another.
const Rule = order.ByQueue

// Graph returns the tasks as nodes, numbered as they are sorted, each waiting for the one before
// it. So the order holds however many may run at the same time.
func Graph(tasks []*Task) *order.Graph {
	var b order.Builder
	for i, task := range tasks {
		b.Add(order.Node{Name: task.Name(), Weight: task.Value, Place: task.Place})
		if i > 0 {
			b.Edge(order.Edge{From: i - 1, To: i, Reason: reason(tasks[i-1], task), Place: task.Place})
		}
	}
	graph, err := b.Build()
	if err != nil {
		panic("plugintasks: " + err.Error()) // a list has no cycles
	}
	return graph
}

// reason says why one task is before another.
func reason(a, b *Task) string {
	switch {
	case a.Stage != b.Stage:
		return fmt.Sprintf("%s is before %s", a.Stage, b.Stage)
	case a.Value != b.Value:
		return fmt.Sprintf("in %s, %s is before %s", a.Stage, number(a.Value), number(b.Value))
	case a.Plugin != b.Plugin:
		return fmt.Sprintf("both are at %s of %s, and plugin %s is before %s", number(a.Value), a.Stage, a.Plugin, b.Plugin)
	}
	return fmt.Sprintf("both are at %s of %s, and task %d of plugin %s is before task %d",
		number(a.Value), a.Stage, a.Position, a.Plugin, b.Position)
}

func number(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }
