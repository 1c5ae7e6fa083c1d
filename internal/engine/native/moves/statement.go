// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package moves

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Statement says that something has another address than before.
type Statement struct {
	In       *module.Node // the module that declares it
	From, To module.MoveEnd
	Implied  bool      // by the way in which a resource has instances; there is no block
	Range    hcl.Range // of the block, or of that of the resource

	path     []string // names of the calls that lead to In
	whole    bool     // rule V2
	from, to pattern
}

func newStatement(in *module.Node, path []string, from, to module.MoveEnd) *Statement {
	s := &Statement{In: in, From: from, To: to, path: path}
	s.whole = lastKey(from) == stackaddrs.NoKey && lastKey(to) == stackaddrs.NoKey
	around := stepsOf(path)
	s.from, s.to = newPattern(around, from, s.whole), newPattern(around, to, s.whole)
	return s
}

// in returns the ends of the statement in one instance of its module.
func (s *Statement) in(module stackaddrs.ModuleInstance) (from, to pattern) {
	path := module.Path()
	around := make([]step, len(path))
	for i, call := range path {
		around[i] = step{call.Name, keyPattern{key: call.Key}}
	}
	return newPattern(around, s.From, s.whole), newPattern(around, s.To, s.whole)
}

// lastKey returns the key of the object that an end names.
func lastKey(end module.MoveEnd) stackaddrs.InstanceKey {
	if end.Resource != nil {
		return end.Key
	}
	return end.Module[len(end.Module)-1].Key
}

// String returns the statement with addresses as they are written, for messages.
func (s *Statement) String() string {
	return fmt.Sprintf("%s to %s%s", endString(s.From), endString(s.To), s.where())
}

// where says in which module the statement is, as the end of a sentence.
func (s *Statement) where() string {
	if len(s.path) == 0 {
		return ""
	}
	return " in module." + strings.Join(s.path, ".module.")
}

// endString returns an end as it is written.
func endString(end module.MoveEnd) string { return absoluteString(stackaddrs.RootModuleInstance, end) }

// absoluteString returns the address of an end in an instance of the module of its statement.
func absoluteString(in stackaddrs.ModuleInstance, end module.MoveEnd) string {
	for _, step := range end.Module {
		in = in.Child(step.Name, step.Key)
	}
	if end.Resource == nil {
		return in.String()
	}
	return stackaddrs.ResourceInstance{Module: in, Resource: *end.Resource, Key: end.Key}.String()
}

// Statements are all statements of a configuration in the order of rule V1. Made by [Find].
type Statements struct {
	root  *module.Node
	order []*Statement
}

// Find returns the statements of a configuration for the objects of a state. With errors about
// moved blocks, there are none.
func Find(root *module.Node, prior *state.State) (*Statements, hcl.Diagnostics) {
	var explicit []*Statement
	collect(root, nil, func(tree *module.Node, path []string) {
		for _, moved := range tree.Moved {
			s := newStatement(tree, path, moved.From, moved.To)
			s.Range = moved.Range
			explicit = append(explicit, s)
		}
	})
	if diags := checkEach(explicit); diags.HasErrors() {
		return &Statements{root: root}, diags
	}
	all := slices.Concat(explicit, implied(root, prior, explicit), impliedOfCalls(root, prior, explicit))
	order, diags := sortStatements(all)
	return &Statements{root, order}, diags
}

// collect calls a function for each module of a tree, callers first.
func collect(tree *module.Node, path []string, visit func(*module.Node, []string)) {
	visit(tree, path)
	for _, name := range slices.Sorted(maps.Keys(tree.Children)) {
		collect(tree.Children[name], append(slices.Clip(path), name), visit)
	}
}

// implied returns the moves between the instance without a key and the one with the key 0 (rule
// V4).
func implied(root *module.Node, prior *state.State, explicit []*Statement) []*Statement {
	var statements []*Statement
	seen := map[string]bool{}
	for _, r := range prior.Resources() {
		tree, path := moduleOf(root, r.Addr.Module)
		if tree == nil || tree.Resources[r.Addr.Resource] == nil {
			continue
		}
		block := tree.Resources[r.Addr.Resource]
		from, to, ok := impliedKeys(block.Repeat)
		name := strings.Join(path, ".") + " " + block.Addr.String()
		if !ok || r.Instance(from) == nil || seen[name] {
			continue
		}
		seen[name] = true
		end := func(key stackaddrs.InstanceKey) module.MoveEnd {
			return module.MoveEnd{Resource: &block.Addr, Key: key, Range: block.Range}
		}
		s := newStatement(tree, path, end(from), end(to))
		s.Implied, s.Range = true, block.Range
		whichever := s.from
		whichever.key.any = true
		if !slices.ContainsFunc(explicit, func(e *Statement) bool { return e.names(whichever) }) {
			statements = append(statements, s)
		}
	}
	return statements
}

// impliedOfCalls returns those moves of called modules that OpenTofu implies (rule V4).
func impliedOfCalls(root *module.Node, prior *state.State, explicit []*Statement) []*Statement {
	var statements []*Statement
	seen := map[string]bool{}
	for _, instance := range prior.Modules() {
		caller, step, ok := instance.Parent()
		tree, path := moduleOf(root, caller)
		if !ok || tree == nil || tree.Tofu == nil || tree.Calls[step.Name] == nil {
			continue
		}
		call := tree.Calls[step.Name]
		from, to, ok := impliedKeys(call.Repeat)
		name := strings.Join(append(slices.Clip(path), step.Name), ".")
		if !ok || step.Key != from || seen[name] {
			continue
		}
		seen[name] = true
		end := func(key stackaddrs.InstanceKey) module.MoveEnd {
			return module.MoveEnd{Module: []module.MoveStep{{Name: step.Name, Key: key}}, Range: call.Range}
		}
		s := newStatement(tree, path, end(from), end(to))
		s.Implied, s.Range = true, call.Range
		whichever := newPattern(stepsOf(path), end(stackaddrs.NoKey), true)
		if !slices.ContainsFunc(explicit, func(e *Statement) bool { return e.names(whichever) }) {
			statements = append(statements, s)
		}
	}
	return statements
}

// names reports whether an end of the statement is a resource, or a called module.
func (s *Statement) names(object pattern) bool {
	is := func(end pattern) bool { return len(end.steps) == len(object.steps) && end.overlaps(object) }
	return (s.from.resource == nil) == (object.resource == nil) && (is(s.from) || is(s.to))
}

// impliedKeys returns between which keys a resource or a called module moves without being told.
func impliedKeys(repeat module.Repeat) (from, to stackaddrs.InstanceKey, ok bool) {
	switch {
	case repeat.ForEach != nil:
		return stackaddrs.NoKey, stackaddrs.NoKey, false
	case repeat.Count != nil:
		return stackaddrs.NoKey, stackaddrs.IntKey(0), true
	default:
		return stackaddrs.IntKey(0), stackaddrs.NoKey, true
	}
}

// moduleOf returns the module of a configuration that a module instance is one of, or nil, and the
// names of the calls that lead to it.
func moduleOf(root *module.Node, at stackaddrs.ModuleInstance) (tree *module.Node, path []string) {
	tree = root
	for _, call := range at.Path() {
		if tree == nil {
			return nil, nil
		}
		tree, path = tree.Children[call.Name], append(path, call.Name)
	}
	return tree, path
}
