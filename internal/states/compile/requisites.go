// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// turnAround gives the requisites that calls declare for others to these (line C-35).
func (c *compiler) turnAround() {
	c.index = newIndex(c.calls)
	added := map[turned]bool{}
	for i, call := range c.calls {
		for _, kind := range kinds {
			for _, own := range call.requisites[kind] {
				added[turned{i, kind, own.Module, own.Identifier}] = true
			}
		}
	}
	for i, call := range c.calls {
		for _, kind := range kinds {
			for _, target := range call.requisites[kind+"_in"] {
				found, ok := c.find(target, i)
				if ok && len(found) == 0 {
					c.unknown(call, kind+"_in", target)
				}
				for _, other := range found {
					key := turned{other, kind, call.Module, call.ID}
					if !added[key] {
						added[key] = true
						to := c.calls[other]
						to.requisites[kind] = append(to.requisites[kind], Requisite{Module: call.Module, Identifier: call.ID, Range: target.Range})
					}
				}
			}
			delete(call.requisites, kind+"_in")
		}
	}
}

// turned is a requisite of a call, for telling whether it has it already.
type turned struct {
	call                     int
	kind, module, identifier string
}

// takeOver gives calls with "use" the arguments of the calls that they name. Those may use others
// themselves.
func (c *compiler) takeOver() {
	var b order.Builder
	for _, call := range c.calls {
		b.Add(order.Node{Name: call.String(), Weight: float64(call.position), Place: call.Place()})
	}
	for i, call := range c.calls {
		for _, requisite := range call.requisites[Use] {
			found, ok := c.find(requisite, i)
			if ok && len(found) == 0 {
				c.unknown(call, Use, requisite)
			}
			for _, other := range found {
				b.Edge(order.Edge{From: other, To: i, Reason: Use + " " + requisite.String(), Place: problem.PlaceAt(requisite.Range)})
				call.targets[Use] = append(call.targets[Use], other)
			}
		}
	}
	graph, err := b.Build()
	if err != nil {
		c.diags = c.diags.Extend(problem.OfCycles(err))
		return
	}
	for _, n := range graph.Sequence(Rule, nil) {
		for _, other := range c.calls[n].targets[Use] {
			c.calls[n].takeOver(c.calls[other])
		}
	}
	for _, call := range c.calls {
		delete(call.targets, Use) // numbers change when calls are sorted
	}
}

func (c *Call) takeOver(other *Call) {
	for _, entry := range other.Args.Entries {
		if _, own := c.Args.Lookup(entry.Key); own || isRequisite(entry.Key) || entry.Key == "failhard" {
			continue
		}
		switch entry.Key {
		case "parallel":
			c.Parallel = other.Parallel
		case "retry":
			c.Retry = other.Retry
		}
		c.Args.Set(entry.Key, entry.Value)
		c.ranges[entry.Key] = other.ranges[entry.Key]
	}
}

// newLow makes the graph of sorted calls.
func newLow(calls []*Call) (*Low, hcl.Diagnostics) {
	l := &Low{Calls: calls, before: make([][]int, len(calls))}
	g := &grapher{low: l, trial: make([]int, len(calls)), run: make([]int, len(calls))}
	for i, call := range calls {
		for _, target := range call.targets[Prereq] {
			l.before[target] = append(l.before[target], i)
		}
	}
	for i, call := range calls {
		n := order.Node{Name: call.String(), Weight: float64(i), Place: call.Place()}
		g.run[i] = g.add(n, Node{Call: i})
		g.trial[i] = g.run[i]
		if len(l.before[i]) > 0 {
			n.Name += " in test mode"
			g.trial[i] = g.add(n, Node{Call: i, Trial: true})
		}
	}
	for i := range calls {
		g.requisites(i)
	}
	graph, err := g.builder.Build()
	if err != nil {
		return nil, problem.OfCycles(l.withoutTrials(err))
	}
	l.graph = graph
	return l, nil
}

// withoutTrials leaves out cycles of trials alone: the calls themselves make the same one.
func (l *Low) withoutTrials(err error) error {
	var cycles order.CycleErrors
	if !errors.As(err, &cycles) {
		return err
	}
	return slices.DeleteFunc(cycles, func(cycle *order.CycleError) bool {
		return !slices.ContainsFunc(cycle.Edges, func(edge order.Edge) bool { return !l.nodes[edge.From].Trial })
	})
}

type grapher struct {
	low        *Low
	builder    order.Builder
	trial, run []int // the nodes of each call; the same one if it is not tried
}

func (g *grapher) add(n order.Node, stands Node) int {
	g.low.nodes = append(g.low.nodes, stands)
	return g.builder.Add(n)
}

// requisites adds the edges to a call, in the order in which they are checked. The requirements of
// a call are done before it is tried, except for calls that wait for the trial themselves.
func (g *grapher) requisites(call int) {
	c := g.low.Calls[call]
	if g.trial[call] != g.run[call] {
		g.builder.Edge(order.Edge{From: g.trial[call], To: g.run[call], Reason: "it is tried first"})
	}
	for _, kind := range kinds {
		if !orders(kind) {
			continue
		}
		for i, target := range c.targets[kind] {
			requisite := c.requisites[kind][c.named[kind][i]]
			edge := order.Edge{Reason: fmt.Sprintf("%s %s of %s", kind, requisite, c), Place: problem.PlaceAt(requisite.Range)}
			g.edges(call, target, kind, edge)
		}
	}
}

func (g *grapher) edges(call, target int, kind string, edge order.Edge) {
	if kind == Prereq {
		edge.From, edge.To = g.trial[target], g.trial[call]
		g.builder.Edge(edge)
		edge.From, edge.To = g.run[call], g.run[target]
		g.builder.Edge(edge)
		return
	}
	edge.From, edge.To = g.run[target], g.trial[call]
	if slices.Contains(g.low.before[call], target) {
		edge.To = g.run[call]
	}
	g.builder.Edge(edge)
}
