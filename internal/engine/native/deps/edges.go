// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deps

import (
	"slices"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
)

// connect adds the edges of all nodes of a module.
func (b *builder) connect(s *scope) {
	b.begin(s.open)
	if call := s.tree.Call; call != nil {
		b.add(s.parent.open)
		b.refs(s.parent, call.Repeat.References())
		b.refs(s.parent, call.DependsOn)
		s.explicit = append(s.parent.explicit[:len(s.parent.explicit):len(s.parent.explicit)], b.targets(s.parent, call.DependsOn)...)
	}
	b.end()
	b.begin(s.close)
	for _, id := range s.inside {
		b.add(id)
	}
	b.end()
	for name, v := range s.tree.Variables {
		b.variable(s, name, v)
	}
	for name, local := range s.tree.Locals {
		b.begin(s.nodes[refs.Subject{Kind: refs.Local, Name: name}])
		b.add(s.open)
		b.exprs(s, local.Value)
		b.end()
	}
	for name, output := range s.tree.Outputs {
		b.begin(s.nodes[outputSubject(name)])
		b.add(s.open)
		b.refs(s, output.References())
		b.refs(s, output.DependsOn)
		b.end()
	}
	for _, action := range s.tree.Actions {
		b.begin(s.nodes[refs.Subject{Kind: refs.Action, Type: action.Type, Name: action.Name}])
		b.add(s.open)
		b.exprs(s, action.Repeat.Count, action.Repeat.ForEach)
		b.refs(s, action.Refs)
		b.end()
	}
	for _, config := range s.tree.Resources {
		b.resourceEdges(s, b.graph.nodes[s.nodes[refs.OfResource(config.Addr)]].resource)
	}
}

// variable connects a variable with the argument of the call, and with the references of its
// validations other than itself.
func (b *builder) variable(s *scope, name string, v *module.Variable) {
	id := s.nodes[refs.Subject{Kind: refs.Variable, Name: name}]
	b.begin(id)
	b.add(s.open)
	b.marks[id] = id
	b.conditions(s, v.Validations)
	if s.tree.Call != nil {
		b.exprs(s.parent, s.tree.Call.Inputs[name])
	}
	b.end()
}

func (b *builder) resourceEdges(s *scope, r *Resource) {
	b.triggeredEdges(s, r)
	b.begin(r.node)
	defer b.end()
	b.marks[r.node] = r.node // that a resource refers to itself is another mistake
	b.add(s.open)
	config := r.Config
	b.refs(s, config.References())
	for _, triggered := range s.triggered[config] {
		b.add(triggered.node)
	}
	for _, id := range b.graph.edges[b.graph.nodes[r.node].first:] {
		if other := b.graph.nodes[id].resource; other != nil && isManaged(other) {
			r.direct = append(r.direct, id)
		}
	}
	b.refs(s, config.DependsOn)
	r.explicit = append(s.explicit[:len(s.explicit):len(s.explicit)], b.targets(s, config.DependsOn)...)
}

// triggeredEdges connects the actions that a resource triggers with their references, but for the
// resource itself (rule G5).
func (b *builder) triggeredEdges(s *scope, r *Resource) {
	for _, triggered := range s.triggered[r.Config] {
		b.begin(triggered.node)
		b.marks[r.node] = triggered.node
		b.exprs(s, triggered.action.Repeat.Count, triggered.action.Repeat.ForEach)
		b.refs(s, triggered.action.Refs)
		b.end()
	}
}

func (b *builder) conditions(s *scope, conditions []*module.Condition) {
	for _, c := range conditions {
		b.exprs(s, c.Condition, c.ErrorMessage)
	}
}

func (b *builder) exprs(s *scope, exprs ...*module.Expr) {
	for _, expr := range exprs {
		if expr != nil {
			b.refs(s, expr.Refs)
		}
	}
}

func (b *builder) refs(s *scope, found []refs.Reference) {
	for i := range found {
		if id, ok := b.target(s, &found[i]); ok {
			b.add(id)
		}
	}
}

func (b *builder) targets(s *scope, found []refs.Reference) []int32 {
	var ids []int32
	for i := range found {
		if id, ok := b.target(s, &found[i]); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// target returns the node that a reference leads to (rules G3 and G4).
func (b *builder) target(s *scope, ref *refs.Reference) (int32, bool) {
	switch subject := ref.Subject; subject.Kind {
	case refs.Variable, refs.Local, refs.Resource, refs.Action:
		id, ok := s.nodes[subject]
		return id, ok
	case refs.Call, refs.CallOutput:
		child := b.scopes[s.tree.Children[subject.Name]]
		if child == nil {
			return 0, false
		}
		if subject.Kind == refs.Call {
			return child.close, true
		}
		id, ok := child.nodes[outputSubject(subject.Attr)]
		return id, ok
	}
	return 0, false
}

// begin makes edges those of a node, until end is called.
func (b *builder) begin(id int32) {
	if b.marks == nil {
		b.marks = slices.Repeat([]int32{-1}, len(b.graph.nodes))
	}
	b.from = id
	b.graph.nodes[id].first = int32(len(b.graph.edges))
}

func (b *builder) add(id int32) {
	if b.marks[id] != b.from {
		b.marks[id] = b.from
		b.graph.edges = append(b.graph.edges, id)
	}
}

func (b *builder) end() { b.graph.nodes[b.from].end = int32(len(b.graph.edges)) }
