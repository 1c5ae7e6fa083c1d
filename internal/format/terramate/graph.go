// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// Graph returns the graph of the stacks: its nodes have the numbers of [Tree.Stacks] and the paths
// as names.
//
// Errors: cycles and conflicts. Then there is no graph.
func (t *Tree) Graph() (*order.Graph, hcl.Diagnostics) {
	var b order.Builder
	for _, stack := range t.Stacks {
		b.Add(order.Node{Name: stack.Path, Place: problem.PlaceOf(stack.Range)})
	}
	same := make([]int, len(t.Stacks))
	for i := range same {
		same[i] = i
	}
	return t.graph(&b, ends{same, same})
}

// ends are the nodes of stacks, by number, that others come before or after.
type ends struct{ first, done []int }

// graph makes a graph of the references between stacks.
func (t *Tree) graph(b *order.Builder, nodes ends) (*order.Graph, hcl.Diagnostics) {
	diags := t.addEdges(b, nodes)
	for i, stack := range t.Stacks {
		if stack.Path == "/" {
			continue
		}
		if above, ok := t.Owner(parent(stack.Path)); ok {
			b.Edge(order.Edge{
				From:   nodes.done[above],
				To:     nodes.first[i],
				Place:  problem.PlaceOf(stack.Range),
				Reason: fmt.Sprintf("%s is in the directory of %s", stack.Path, t.Stacks[above].Path),
			})
		}
	}
	g, err := b.Build()
	diags = diags.Extend(problem.OfCycles(err))
	if diags.HasErrors() {
		return nil, diags
	}
	return g, diags
}

// addEdges adds the references of the stacks, without contradictions.
func (t *Tree) addEdges(b *order.Builder, nodes ends) hcl.Diagnostics {
	var diags hcl.Diagnostics
	type pair struct{ from, to int }
	before := map[pair]*reference{}
	conflicts := map[pair]bool{}
	eachTarget := func(attribute string, visit func(r *reference, to int)) {
		for i := range t.edges {
			if r := &t.edges[i]; r.attribute == attribute {
				for _, to := range r.to {
					visit(r, to)
				}
			}
		}
	}
	eachTarget("before", func(r *reference, to int) {
		if _, known := before[pair{r.from, to}]; !known {
			before[pair{r.from, to}] = r
		}
	})
	eachTarget("after", func(r *reference, to int) {
		p := pair{r.from, to}
		other := before[p]
		if other == nil || conflicts[p] || r.from == to {
			return
		}
		conflicts[p] = true
		diags = diags.Append(problem.New(problem.Conflict, &r.entry.Range, "Contradictory order",
			"The stack %s is to run before %s, by %q at %s, and after it, by %q at %s. Remove one of the two.",
			t.Stacks[r.from].Path, t.Stacks[to].Path, other.entry.Text, problem.PlaceOf(other.entry.Range), r.entry.Text,
			problem.PlaceOf(r.entry.Range)))
	})
	reasons := map[*reference]string{}
	add := func(r *reference, to int) {
		if conflicts[pair{r.from, to}] {
			return
		}
		from := r.from
		if r.attribute == "after" {
			from, to = to, from
		}
		edge := order.Edge{From: nodes.done[from], To: nodes.first[to], Place: problem.PlaceOf(r.entry.Range)}
		reason, known := reasons[r]
		if !known {
			reason = fmt.Sprintf("%s has %s = [%q]", t.Stacks[r.from].Path, r.attribute, r.entry.Text)
			reasons[r] = reason
		}
		edge.Reason = reason
		b.Edge(edge)
	}
	eachTarget("before", add)
	eachTarget("after", add)
	return diags
}

// Filter narrows a selection. The zero value lets everything pass.
type Filter struct {
	Below string // path of a directory; "" stands for the root
	tagquery.TagFilter
	Only    func(node int) bool // nil: any
	Changed order.Selection     // of stacks; nil: whether one has changed does not matter

	// Along are the additions by a graph of the tree, which have to pass NoTags. Nothing is added
	// without a graph.
	Along fleet.Along
	Graph *order.Graph
}

// Selected is a selection of nodes with the reasons for those that filters do not account for.
type Selected struct {
	Selection order.Selection
	Wanted    map[int]string // why nodes are selected that the filter left out

	Added map[int]fleet.Added // additions by the graph
}

// passes reports whether a stack passes, whatever deployments it has.
func (f Filter) passes(i int, stack *Stack) bool {
	return (f.Below == "" || contains(f.Below, stack.Path)) &&
		f.TagFilter.Passes(stack.Tags) &&
		f.Changed.Has(i)
}

// want is a stack that is selected along with another.
type want struct {
	stack  int
	reason string
}

func (t *Tree) wants() map[int][]want {
	wants := map[int][]want{}
	for _, r := range t.edges {
		for _, to := range r.to {
			switch path := t.Stacks[r.from].Path; r.attribute {
			case "wants":
				wants[r.from] = append(wants[r.from], want{to, fmt.Sprintf("%s wants it", path)})
			case "wanted_by":
				wants[to] = append(wants[to], want{r.from, fmt.Sprintf("it is wanted by %s", t.Stacks[to].Path)})
			}
		}
	}
	return wants
}
