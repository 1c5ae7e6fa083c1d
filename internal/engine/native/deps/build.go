// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deps

import (
	"cmp"
	"slices"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// builder makes a graph: first all nodes, then the edges, each node's one after another.
type builder struct {
	graph  *Graph
	scopes map[*module.Node]*scope
	order  []*scope
	marks  []int32 // by node: the last node that has an edge to it, to have each edge once
	from   int32   // the node whose edges are added
}

// scope is a module with the nodes of its objects.
type scope struct {
	tree   *module.Node
	parent *scope // nil for the root
	addr   stackaddrs.ModuleInstance
	nodes  map[refs.Subject]int32 // and of outputs, as of a call without a name

	open, close int32
	inside      []int32 // resources, outputs and the ends of called modules
	explicit    []int32 // those that the depends_on of this call and of those around it list

	triggered map[*module.Resource][]triggeredAction
}

// triggeredAction is an action as a resource triggers it, which is a node of its own for each (rule
// G5).
type triggeredAction struct {
	node   int32
	action *module.Action
}

func outputSubject(name string) refs.Subject { return refs.Subject{Kind: refs.CallOutput, Attr: name} }

// declare makes the nodes of a module and of those that it calls.
func (b *builder) declare(tree *module.Node, parent *scope, addr stackaddrs.ModuleInstance) {
	s := &scope{tree: tree, parent: parent, addr: addr, nodes: make(map[refs.Subject]int32, len(tree.Variables)+len(tree.Locals)+
		len(tree.Outputs)+len(tree.Resources))}
	b.scopes[tree] = s
	b.order = append(b.order, s)
	name := "the module"
	if tree.Call != nil {
		name = "module." + tree.Call.Name
	}
	s.open, s.close = b.node(node{kind: openNode, tree: tree, name: name}), b.node(node{kind: closeNode, tree: tree, name: name})
	s.inside = append(s.inside, s.open)
	for name := range tree.Variables {
		b.value(s, refs.Subject{Kind: refs.Variable, Name: name}, "var."+name)
	}
	for name := range tree.Locals {
		b.value(s, refs.Subject{Kind: refs.Local, Name: name}, "local."+name)
	}
	for name := range tree.Outputs {
		s.inside = append(s.inside, b.value(s, outputSubject(name), "output."+name))
	}
	for id, action := range tree.Actions {
		b.value(s, refs.Subject{Kind: refs.Action, Type: action.Type, Name: action.Name}, "action."+id)
	}
	for _, resource := range tree.Resources {
		b.resource(s, resource)
	}
	for name, child := range tree.Children {
		b.declare(child, s, addr.Child(name, stackaddrs.NoKey))
		s.inside = append(s.inside, b.scopes[child].close)
	}
}

func (b *builder) node(n node) int32 {
	b.graph.nodes = append(b.graph.nodes, n)
	return int32(len(b.graph.nodes) - 1)
}

func (b *builder) value(s *scope, subject refs.Subject, name string) int32 {
	id := b.node(node{tree: s.tree, name: name})
	s.nodes[subject] = id
	return id
}

func (b *builder) resource(s *scope, config *module.Resource) {
	r := &Resource{
		Addr: stackaddrs.ResourceInstance{Module: s.addr, Resource: config.Addr}, Tree: s.tree, Config: config,
		CreateBeforeDestroy: config.CreateBeforeDestroy, graph: b.graph,
	}
	r.Text = r.Addr.String()
	r.node = b.node(node{kind: resourceNode, tree: s.tree, name: config.Addr.String(), resource: r})
	s.nodes[refs.OfResource(config.Addr)] = r.node
	b.declareTriggered(s, config)
	s.inside = append(s.inside, r.node)
	b.graph.byAddr[r.Addr] = r
	b.graph.resources = append(b.graph.resources, r)
}

// declareTriggered makes the nodes of the actions that a resource triggers.
func (b *builder) declareTriggered(s *scope, config *module.Resource) {
	for _, trigger := range config.ActionTriggers {
		for _, expr := range trigger.Actions {
			for i := range expr.Refs {
				id := expr.Refs[i].Subject.Type + "." + expr.Refs[i].Subject.Name
				action := s.tree.Actions[id]
				if expr.Refs[i].Subject.Kind != refs.Action || action == nil {
					continue
				}
				if s.triggered == nil {
					s.triggered = map[*module.Resource][]triggeredAction{}
				}
				s.triggered[config] = append(s.triggered[config], triggeredAction{b.node(node{tree: s.tree, name: "action." + id}), action})
			}
		}
	}
}

// finish gives resources their ranks, and those that others force to it their order of replacement.
func (b *builder) finish() {
	g := b.graph
	root := b.order[0]
	for name := range root.tree.Outputs {
		g.outputs[name] = root.nodes[outputSubject(name)]
	}
	slices.SortFunc(g.resources, func(a, b *Resource) int { return cmp.Compare(a.Text, b.Text) })
	var forcing []int32
	for rank, r := range g.resources {
		r.rank = int32(rank)
		if r.Addr.Resource.Mode == stackaddrs.EphemeralResource {
			g.ephemeral = append(g.ephemeral, r)
		}
		if r.CreateBeforeDestroy {
			forcing = append(forcing, r.node)
		}
	}
	for _, r := range g.resources {
		for i, id := range r.direct {
			r.direct[i] = g.nodes[id].resource.rank
		}
	}
	for _, forced := range g.reach(forcing, isManaged) {
		forced.CreateBeforeDestroy = true
	}
}
