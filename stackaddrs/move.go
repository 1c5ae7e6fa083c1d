// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"cmp"
	"fmt"
	"slices"
)

// Moveable is the address of something that can get another address together with all that is in
// it: a component, an embedded stack, or one instance of either.
type Moveable struct {
	Stack StackInstance // that it is in
	Kind  MoveableKind
	Name  string
	Key   InstanceKey
}

// MoveableKind is the kind of block that a [Moveable] comes from.
type MoveableKind uint8

// The kinds, in the order of rule A4.
const (
	MoveableComponent MoveableKind = iota
	MoveableStack
)

// String returns the keyword of the kind.
func (k MoveableKind) String() string { return [...]string{"component", "stack"}[k] }

// ParseMoveable parses an address like stack.a["k"].component.x["y"] or stack.a["k"].stack.b.
func ParseMoveable(s string) (Moveable, error) {
	return parseWhole(s, "component or stack", func(p *parser) (Moveable, error) {
		stack, err := p.stackPath()
		if err != nil {
			return Moveable{}, err
		}
		if caller, call, ok := stack.Parent(); ok && len(p.rest) == 0 {
			return Moveable{caller, MoveableStack, call.Call.Name, call.Key}, nil
		}
		name, err := p.keywordAndName("component")
		if err != nil {
			return Moveable{}, err
		}
		key, err := p.key()
		return Moveable{stack, MoveableComponent, name, key}, err
	})
}

// String returns the address as users write it.
func (m Moveable) String() string {
	return m.Stack.prefix() + m.Kind.String() + "." + m.Name + m.Key.String()
}

// Within returns the address seen from the root, of one that is relative to a stack instance.
func (m Moveable) Within(stack StackInstance) Moveable {
	m.Stack = stack.Join(m.Stack)
	return m
}

// Move gives something another address.
//
// Without a key in either address it means the whole block: each instance keeps its key. With a key
// in one of them, it means one instance on both sides, and an address without a key is the only
// instance of a block without for_each.
type Move struct{ From, To Moveable }

// Check returns why a move makes no sense, whatever there is, or nil.
func (m Move) Check() error {
	switch {
	case m.From == m.To:
		return fmt.Errorf("%s would stay where it is", m.From)
	case m.From.Kind != m.To.Kind:
		return fmt.Errorf("%s is a %s and %s a %s, and neither can become the other", m.From, m.From.Kind, m.To, m.To.Kind)
	case m.From.Kind == MoveableStack && m.To.Stack.isBelow(m.From, m.IsWhole()):
		return fmt.Errorf("%s would be inside of itself", m.From)
	default:
		return nil
	}
}

// IsWhole reports whether the move means all instances of a block.
func (m Move) IsWhole() bool { return m.From.Key == NoKey && m.To.Key == NoKey }

// Within is [Moveable.Within] for both addresses.
func (m Move) Within(stack StackInstance) Move { return Move{m.From.Within(stack), m.To.Within(stack)} }

// Rename returns the address that a component instance has after the move. ok is false if the move
// does not concern it.
func (m Move) Rename(addr AbsComponentInstance) (renamed AbsComponentInstance, ok bool) {
	if m.From.Kind == MoveableStack {
		stack, ok := m.renameStack(addr.Stack)
		return AbsComponentInstance{stack, addr.Item}, ok
	}
	if addr.Stack != m.From.Stack || addr.Item.Component.Name != m.From.Name || !m.IsWhole() && addr.Item.Key != m.From.Key {
		return addr, false
	}
	return AbsComponentInstance{m.To.Stack, ComponentInstance{Component{m.To.Name}, m.newKey(addr.Item.Key)}}, true
}

// renameStack returns the address of a stack instance after a move of one that it is, or is in.
func (m Move) renameStack(stack StackInstance) (renamed StackInstance, ok bool) {
	caller, call, ok := stack.Parent()
	switch {
	case !ok:
		return stack, false
	case m.From.names(stack, m.IsWhole()):
		return m.To.Stack.Child(m.To.Name, m.newKey(call.Key)), true
	}
	caller, ok = m.renameStack(caller)
	return caller.Child(call.Call.Name, call.Key), ok
}

func (m Move) newKey(key InstanceKey) InstanceKey {
	if m.IsWhole() {
		return key
	}
	return m.To.Key
}

// names reports whether m is the address of a stack instance, whatever its key if all instances are
// meant.
func (m Moveable) names(stack StackInstance, all bool) bool {
	caller, call, ok := stack.Parent()
	return ok && m.Kind == MoveableStack && caller == m.Stack && call.Call.Name == m.Name && (all || call.Key == m.Key)
}

// isBelow reports whether s is a stack instance that of names, or is in it.
func (s StackInstance) isBelow(of Moveable, all bool) bool {
	for ok := true; ok; s, _, ok = s.Parent() {
		if of.names(s, all) {
			return true
		}
	}
	return false
}

// Rename is a component instance that gets another address.
type Rename struct{ From, To AbsComponentInstance }

// DeclaredMove is a move that a stack declares for each of its instances, with addresses seen from
// there.
type DeclaredMove struct {
	Stack Stack
	Move
}

// Rename is [Move.Rename] for the stack instance that a component instance is in, or that is around
// it.
func (m DeclaredMove) Rename(addr AbsComponentInstance) (renamed AbsComponentInstance, ok bool) {
	stack := addr.Stack
	for depth := stack.Depth(); depth > m.Stack.Depth(); depth-- {
		stack, _, _ = stack.Parent()
	}
	if stack.Config() != m.Stack {
		return addr, false
	}
	return m.Within(stack).Rename(addr)
}

// compareSpecificity orders moves such that the more specific one comes first: a deeper object
// before the one it is in, and one instance before all.
func (m DeclaredMove) compareSpecificity(other DeclaredMove) int {
	depth := func(m DeclaredMove) int { return m.Stack.Depth() + m.From.Stack.Depth() }
	all := func(m DeclaredMove) int {
		if m.IsWhole() {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(depth(other), depth(m)),
		cmp.Compare(m.From.Kind, other.From.Kind),
		cmp.Compare(all(m), all(other)),
		cmp.Compare(m.Stack.Depth(), other.Stack.Depth()),
	)
}

// Moves are the moves of a configuration, which may go on from each other.
type Moves []DeclaredMove

// Follow returns the address that a component instance has in the end, and which moves take it
// there, one after the other. Where several start from an address, the most specific one counts.
//
// ok is false if the moves lead back to where it was before: then they are the moves that do so.
func (m Moves) Follow(addr AbsComponentInstance) (end AbsComponentInstance, by []int, ok bool) {
	passed := []AbsComponentInstance{addr}
	for {
		next := -1
		var renamed AbsComponentInstance
		for i, move := range m {
			if to, concerns := move.Rename(addr); concerns && (next < 0 || move.compareSpecificity(m[next]) < 0) {
				next, renamed = i, to
			}
		}
		if next < 0 {
			return addr, by, true
		}
		addr, by = renamed, append(by, next)
		if start := slices.Index(passed, addr); start >= 0 {
			return addr, by[start:], false
		}
		passed = append(passed, addr)
	}
}
