// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// readDeployments reads the deployment files of stacks, and keeps those of stacks that have several
// deployments.
func (l *loader) readDeployments() {
	for _, stack := range l.tree.Stacks {
		names := l.deployFiles[stack.Path]
		if len(names) == 0 || stack.Kind != rollout.Components {
			continue
		}
		outline, diags := deployconfig.ReadOutline(l.root.FS(), "."+stack.Path, l.onDisk(stack.Path), names)
		l.diags = l.diags.Extend(coded(diags, problem.Syntax))
		for name, file := range outline.Files {
			l.tree.Files[name] = file
		}
		if len(outline.Deployments) < 2 {
			continue
		}
		stack.Deployments = outline
		for _, declared := range outline.Deployments {
			if i, taken := l.tree.Index(deployconfig.NodeName(stack.Path, declared.Name)); taken {
				l.diags = l.diags.Append(problem.New(problem.DuplicateID, &declared.Range, "Name used twice",
					"The deployment %q of %s would be called as the stack in %s is. Rename one of them.",
					declared.Name, stack.Path, l.tree.Stacks[i].Path))
			}
		}
	}
}

// node is a stack, or one of its deployments if it has several.
type node struct {
	stack      int
	deployment string // "" for all of the stack
}

// nodes are the nodes of a tree in an order: stacks, and deployments of those that have several.
type nodes struct {
	tree  *Tree
	all   []node
	first []int // by stack, the first of its nodes
	last  []int // by stack, the one after its last node
}

// nodes returns those of a tree, by path and name.
func (t *Tree) nodes() *nodes {
	n := &nodes{tree: t}
	for i, stack := range t.Stacks {
		n.first = append(n.first, len(n.all))
		if stack.Deployments == nil {
			n.all = append(n.all, node{stack: i})
		} else {
			for _, name := range slices.Sorted(slices.Values(stack.Deployments.Names())) {
				n.all = append(n.all, node{i, name})
			}
		}
		n.last = append(n.last, len(n.all))
	}
	return n
}

// name returns the name of a node, made of the name of its stack.
func (n *nodes) name(i int, stack string) string {
	if n.all[i].deployment == "" {
		return stack
	}
	return deployconfig.NodeName(stack, n.all[i].deployment)
}

// path is the name of a node after the path of its stack.
func (n *nodes) path(i int) string { return n.name(i, n.tree.Stacks[n.all[i].stack].Path) }

// of returns the nodes of a stack.
func (n *nodes) of(stack int) (first, after int) { return n.first[stack], n.last[stack] }

// graph is [Tree.Graph] with a node for each of several deployments, which come in the order of
// their deployment groups. A stack that waits for another waits for all deployments of it. The
// nodes come first; points where others meet have greater numbers.
func (n *nodes) graph() (*order.Graph, hcl.Diagnostics) {
	var b order.Builder
	for i, one := range n.all {
		stack := n.tree.Stacks[one.stack]
		at := stack.Range
		if one.deployment != "" {
			at = stack.Deployments.Deployment(one.deployment).Range
		}
		b.Add(order.Node{Name: n.path(i), Place: problem.PlaceOf(at)})
	}
	between := ends{first: slices.Clone(n.first), done: slices.Clone(n.first)}
	for i, stack := range n.tree.Stacks {
		if stack.Deployments != nil {
			between.first[i], between.done[i] = n.deployments(&b, i)
		}
	}
	return n.tree.graph(&b, between)
}

// deployments adds the order of the deployments of a stack, and returns the points before and after
// all of them.
func (n *nodes) deployments(b *order.Builder, i int) (before, done int) {
	stack := n.tree.Stacks[i]
	point := func(what string) int {
		return b.Add(order.Node{Name: what + " of " + stack.Path, Anchor: true, Place: problem.PlaceOf(stack.Range)})
	}
	number := func(deployment string) int {
		first, after := n.of(i)
		at, _ := slices.BinarySearchFunc(n.all[first:after],
			deployment, func(one node, name string) int { return strings.Compare(one.deployment, name) })
		return first + at
	}
	before = point("begin")
	edge, at := order.Edge{}, before
	for g, group := range stack.Deployments.Groups {
		if g > 0 {
			previous := stack.Deployments.Groups[g-1]
			edge.Reason = fmt.Sprintf("%s has %s before %s in its deployment files", stack.Path, previous, group)
			edge.Place = problem.PlaceOf(group.Range)
			at = point("between deployment groups")
			for _, member := range previous.Members {
				edge.From, edge.To = number(member), at
				b.Edge(edge)
			}
		}
		for _, member := range group.Members {
			edge.From, edge.To = at, number(member)
			b.Edge(edge)
		}
	}
	done = point("end")
	groups := stack.Deployments.Groups
	for _, member := range groups[len(groups)-1].Members {
		b.Edge(order.Edge{From: number(member), To: done})
	}
	return before, done
}

// Select returns the nodes that pass a filter, those that they want and are wanted by, and the
// additions by the graph to all these. The nodes have the numbers of [Tree.Stacks] unless a stack
// has several deployments, which are nodes of their own.
func (t *Tree) Select(filter Filter) Selected { return t.nodes().choose(filter) }

// choose is [Tree.Select].
func (n *nodes) choose(filter Filter) Selected {
	s := Selected{make(order.Selection, len(n.all)), map[int]string{}, map[int]fleet.Added{}}
	var queue []int
	for i, one := range n.all {
		if s.Selection[i] = filter.passes(one.stack, n.tree.Stacks[one.stack]) && (filter.Only == nil || filter.Only(i)); s.Selection[i] {
			queue = append(queue, i)
		}
	}
	n.selectWanted(&s, queue)
	if filter.Graph == nil || !filter.Along.Any() {
		return s
	}
	selected := map[int]bool{}
	for i, is := range s.Selection {
		selected[i] = is
	}
	unit := func(i int) int {
		if i >= len(n.all) {
			return fleet.NoUnit
		}
		return i
	}
	without := tagquery.TagFilter{NoTags: filter.NoTags}
	for i, added := range filter.Along.Add(fleet.Walk{Graph: filter.Graph, Unit: unit, Name: n.path}, selected) {
		if without.Passes(n.tree.Stacks[n.all[i].stack].Tags) {
			s.Selection[i], s.Wanted[i], s.Added[i] = true, added.Text, added
			queue = append(queue, i)
		}
	}
	slices.Sort(queue)
	n.selectWanted(&s, queue)
	return s
}

// selectWanted adds the nodes that are wanted along with selected ones. A stack that wants another
// wants all its deployments.
func (n *nodes) selectWanted(s *Selected, queue []int) {
	wants := n.tree.wants()
	for len(queue) > 0 {
		stack := n.all[queue[0]].stack
		queue = queue[1:]
		for _, w := range wants[stack] {
			first, after := n.of(w.stack)
			for i := first; i < after; i++ {
				if !s.Selection[i] {
					s.Selection[i], s.Wanted[i] = true, w.reason
					queue = append(queue, i)
				}
			}
		}
	}
}
