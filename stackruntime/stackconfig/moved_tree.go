// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// The part of loading moved blocks that needs the tree of stacks.

// checkMoved returns the moved blocks of the tree and reports those that contradict each other or
// the rest of it.
func (l *loader) checkMoved(root *Stack) []*MovedIn {
	var found []*MovedIn
	root.walk(func(s *Stack) {
		for _, block := range s.Moved {
			found = append(found, &MovedIn{s, block})
		}
	})
	if len(found) == 0 {
		return nil
	}
	moves := Moves(found)
	l.checkAmbiguousMoves(root, found)
	l.checkMoveCycles(found, moves)
	gone := removals(root)
	for _, block := range found {
		l.checkMovedFrom(block, gone)
		l.checkMovedTo(block, moves, gone)
	}
	return found
}

// moveEnd is one end of a moved block, seen from the root. Two are the same only if they mean the
// same instances.
type moveEnd struct {
	stack string // with [*] for the instances of the stacks around the block
	last  stackaddrs.Moveable
	whole bool
}

// endOf returns an end of a block. root is needed for which of the stacks around it have instances.
func endOf(root *Stack, block *MovedIn, end stackaddrs.Moveable) moveEnd {
	around := stackaddrs.RootStackInstance
	stack := root
	for _, name := range block.Stack.Addr.Path() {
		key := stackaddrs.NoKey
		if call := stack.Calls[name]; call == nil || call.ForEach != nil {
			key = stackaddrs.WildcardKey
		}
		around, stack = around.Child(name, key), stack.Children[name]
	}
	end = end.Within(around)
	stackText := end.Stack.String()
	end.Stack = stackaddrs.RootStackInstance
	return moveEnd{stackText, end, block.Move.IsWhole()}
}

// checkAmbiguousMoves finds blocks that move the same thing, or something to the same place.
func (l *loader) checkAmbiguousMoves(root *Stack, blocks []*MovedIn) {
	froms, tos := make(map[moveEnd]*MovedIn), make(map[moveEnd]*MovedIn)
	for _, block := range blocks {
		from, to := endOf(root, block, block.Move.From), endOf(root, block, block.Move.To)
		if first := froms[from]; first != nil {
			l.moveError(block.FromRange, "Object moved twice",
				"%s is already moved to %s by the block at %s. Only one of the blocks can be right.",
				block.Move.From, first.Move.To, place(first.Range))
		} else {
			froms[from] = block
		}
		if first := tos[to]; first != nil {
			l.moveError(block.ToRange, "Two objects moved to one address",
				"%s is already moved to %s by the block at %s. Only one of them can have that address.",
				first.Move.From, block.Move.To, place(first.Range))
		} else {
			tos[to] = block
		}
	}
}

// checkMoveCycles finds blocks that lead back to where they start.
func (l *loader) checkMoveCycles(blocks []*MovedIn, moves stackaddrs.Moves) {
	reported := make(map[int]bool)
	for _, block := range blocks {
		_, by, ok := moves.Follow(probe(block, block.Move.To))
		if ok || reported[by[0]] {
			continue
		}
		slices.Sort(by)
		var lines []string
		for _, i := range by {
			reported[i] = true
			lines = append(lines, fmt.Sprintf("  - %s to %s, at %s", moves[i].From, moves[i].To, place(blocks[i].Range)))
		}
		l.moveError(blocks[by[0]].ToRange, "Cycle of moves",
			"These blocks lead back to where they start:\n%s\nRemove those that are out of date.", strings.Join(lines, "\n"))
	}
}

// probe is an instance that an end of a block means: with the wildcard as key where there may be
// any, which only a move of all instances concerns, and for a stack one of a component without a
// name.
func probe(block *MovedIn, end stackaddrs.Moveable) stackaddrs.AbsComponentInstance {
	around := stackaddrs.RootStackInstance
	for _, name := range block.Stack.Addr.Path() {
		around = around.Child(name, stackaddrs.WildcardKey)
	}
	end = end.Within(around)
	if block.Move.IsWhole() {
		end.Key = stackaddrs.WildcardKey
	}
	addr := stackaddrs.AbsComponent{Stack: end.Stack, Item: stackaddrs.Component{Name: end.Name}}
	if end.Kind == stackaddrs.MoveableStack {
		addr = stackaddrs.AbsComponent{Stack: end.Stack.Child(end.Name, end.Key)}
		end.Key = stackaddrs.NoKey
	}
	return stackaddrs.InstanceOf(addr, end.Key)
}

// checkMovedFrom checks that the moved object is neither declared any more nor removed.
func (l *loader) checkMovedFrom(block *MovedIn, gone []removal) {
	from := block.Move.From
	if declared := findDeclared(block.Stack, from, block.Move.IsWhole()); declared.certainty == isDeclared {
		l.moveError(block.FromRange, "Moved object still declared",
			"%s is declared at %s, and this block moves it to %s. Rename that block, or remove this one if both are wanted.",
			from, place(declared.place), block.Move.To)
		return
	}
	for _, r := range gone {
		if _, all := r.namesEnd(block, from); all {
			l.moveError(block.FromRange, "Object both moved and removed",
				"This block gives %s the address %s, and the block at %s removes it. "+
					"If it is to go, let that block name the new address, or remove this one.",
				from, block.Move.To, place(r.block.Range))
			return
		}
	}
}

// checkMovedTo checks that something takes the moved object: a block that declares or removes it,
// or another move.
func (l *loader) checkMovedTo(block *MovedIn, moves stackaddrs.Moves, gone []removal) {
	to := block.Move.To
	declared := findDeclared(block.Stack, to, block.Move.IsWhole())
	if declared.certainty != notDeclared {
		return
	}
	if _, by, _ := moves.Follow(probe(block, to)); len(by) > 0 {
		return
	}
	if slices.ContainsFunc(gone, func(r removal) bool { named, _ := r.namesEnd(block, to); return named }) {
		return
	}
	const remedy = "Change the address, or remove this block if it is out of date."
	switch {
	case declared.place != hcl.Range{} && declared.hasForEach:
		l.moveError(block.ToRange, "Target of a move not declared",
			"The block at %s has for_each, so that %s is none of its instances. Give the key of one, like %s[\"key\"].",
			place(declared.place), to, to)
	case declared.place != hcl.Range{}:
		l.moveError(block.ToRange, "Target of a move not declared",
			"The block at %s has no for_each, so that %s is none of its instances. Leave out the key.", place(declared.place), to)
	default:
		l.moveError(block.ToRange, "Target of a move not declared", "No block declares %s. %s", to, remedy)
	}
}

// namesEnd reports whether a removed block names an end of a moved block, for all that can be seen
// without values, and whether it names all that is meant there.
func (r removal) namesEnd(block *MovedIn, end stackaddrs.Moveable) (named, all bool) {
	target, name, index, kind := r.target, "", hcl.Expression(nil), stackaddrs.MoveableComponent
	if component := r.block.From.Component; component != nil {
		name, index = component.Name, component.Index
	} else {
		last := r.block.From.Stacks[len(r.block.From.Stacks)-1]
		target, name, _ = target.Parent()
		index, kind = last.Index, stackaddrs.MoveableStack
	}
	stack := block.Stack.Addr
	for _, step := range end.Stack.Path() {
		stack = stack.Child(step.Call.Name)
	}
	named = kind == end.Kind && stack == target && name == end.Name
	return named, named && (block.Move.IsWhole() || index == nil && end.Key == stackaddrs.NoKey)
}

// declaration is whether a block declares something.
type declaration struct {
	certainty  int
	place      hcl.Range // of the block, if there is one
	hasForEach bool      // of that block
}

const (
	notDeclared = iota
	maybeDeclared
	isDeclared
)

// findDeclared finds the block for an address seen from a stack; with whole, that is all instances.
func findDeclared(stack *Stack, m stackaddrs.Moveable, whole bool) declaration {
	certainty := isDeclared
	for _, step := range m.Stack.Path() {
		call := stack.Calls[step.Call.Name]
		if call == nil {
			return stack.undeclared(step.Call)
		}
		found := instanceDeclared(call.ForEach, step.Key, call.Range)
		if found.certainty == notDeclared {
			return found
		}
		certainty = min(certainty, found.certainty)
		if stack = stack.Children[step.Call.Name]; stack == nil {
			return declaration{certainty: maybeDeclared}
		}
	}
	var found declaration
	component, call := stack.Components[m.Name], stack.Calls[m.Name]
	switch {
	case m.Kind == stackaddrs.MoveableComponent && component != nil:
		found = instanceDeclared(component.ForEach, m.Key, component.Range)
	case m.Kind == stackaddrs.MoveableStack && call != nil:
		found = instanceDeclared(call.ForEach, m.Key, call.Range)
	case m.Kind == stackaddrs.MoveableComponent:
		return stack.undeclared(stackaddrs.Component{Name: m.Name})
	default:
		return stack.undeclared(stackaddrs.StackCall{Name: m.Name})
	}
	if whole {
		found.certainty = isDeclared
	}
	found.certainty = min(found.certainty, certainty)
	return found
}

// instanceDeclared returns the certainty that a block with a for_each argument, or without for nil,
// has an instance.
func instanceDeclared(forEach hcl.Expression, key stackaddrs.InstanceKey, place hcl.Range) declaration {
	found := declaration{certainty: notDeclared, place: place, hasForEach: forEach != nil}
	switch {
	case forEach == nil && key == stackaddrs.NoKey:
		found.certainty = isDeclared
	case forEach != nil && key != stackaddrs.NoKey:
		found.certainty = maybeDeclared // evaluating shows it
	}
	return found
}

// undeclared is the result for an object that no block declares, unless the reason for that was
// reported.
func (s *Stack) undeclared(addr stackaddrs.Referenceable) declaration {
	if s.Incomplete || s.Rejected[addr] {
		return declaration{certainty: maybeDeclared}
	}
	return declaration{}
}

func (l *loader) moveError(subject hcl.Range, summary, format string, args ...any) {
	l.report(failure.At(subject, summary, format, args...))
}
