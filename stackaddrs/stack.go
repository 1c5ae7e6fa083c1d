// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"cmp"
	"slices"
	"strings"
)

// Stack is the configuration address of a stack: the names of the calls that
// lead to it. The zero value is the root stack.
type Stack struct{ path path[string] }

// RootStack is the stack at the root of the configuration tree.
var RootStack = Stack{}

// Child returns the address of the stack which the call named name includes.
func (s Stack) Child(name string) Stack { return Stack{s.path.child(name)} }

// IsRoot reports whether s is the root stack.
func (s Stack) IsRoot() bool { return s.path.isRoot() }

// Parent returns the calling stack and the name of the call in it. The root
// stack has no caller: ok is false.
func (s Stack) Parent() (caller Stack, name string, ok bool) {
	parent, name, ok := s.path.split()
	return Stack{parent}, name, ok
}

// Path returns the names of the calls from the root down to s.
func (s Stack) Path() []string { return s.path.steps() }

// Depth is the number of calls between the root stack and s.
func (s Stack) Depth() int { return s.path.depth() }

// Contains reports whether other is s or is reached through s.
func (s Stack) Contains(other Stack) bool { return s.path.contains(other.path) }

// Compare orders as rule A4 says.
func (s Stack) Compare(other Stack) int {
	if s == other {
		return 0
	}
	return slices.Compare(s.Path(), other.Path())
}

// String returns the address as users write it, "<main>" for the root stack.
func (s Stack) String() string {
	if s.IsRoot() {
		return "<main>"
	}
	return strings.TrimSuffix(s.prefix(), ".")
}

func (s Stack) prefix() string {
	var b strings.Builder
	for _, name := range s.Path() {
		b.WriteString("stack." + name + ".")
	}
	return b.String()
}

// StackInstance is the absolute address of one instance of a stack. The zero
// value is the root stack.
type StackInstance struct{ path path[StackCallInstance] }

// RootStackInstance is the only instance of the root stack.
var RootStackInstance = StackInstance{}

// Child returns the address of the stack instance which one instance of a call
// in s includes.
func (s StackInstance) Child(name string, key InstanceKey) StackInstance {
	return StackInstance{s.path.child(StackCallInstance{StackCall{name}, key})}
}

// IsRoot reports whether s is the root stack.
func (s StackInstance) IsRoot() bool { return s.path.isRoot() }

// Parent returns the calling stack instance and the instance of the call in
// it. The root stack has no caller: ok is false.
func (s StackInstance) Parent() (caller StackInstance, call StackCallInstance, ok bool) {
	parent, call, ok := s.path.split()
	return StackInstance{parent}, call, ok
}

// Path returns the call instances from the root down to s.
func (s StackInstance) Path() []StackCallInstance { return s.path.steps() }

// Depth is the number of calls between the root stack and s.
func (s StackInstance) Depth() int { return s.path.depth() }

// Config returns the configuration address: s without its keys.
func (s StackInstance) Config() Stack {
	caller, call, ok := s.Parent()
	if !ok {
		return RootStack
	}
	return caller.Config().Child(call.Call.Name)
}

// Contains reports whether other is s or is reached through s.
func (s StackInstance) Contains(other StackInstance) bool { return s.path.contains(other.path) }

// Join returns the address of a stack instance that below names from s on.
func (s StackInstance) Join(below StackInstance) StackInstance {
	for _, call := range below.Path() {
		s = s.Child(call.Call.Name, call.Key)
	}
	return s
}

// HasWildcard reports whether a step of s stands for instances not known yet.
func (s StackInstance) HasWildcard() bool {
	for caller, call, ok := s.Parent(); ok; caller, call, ok = caller.Parent() {
		if call.Key.IsWildcard() {
			return true
		}
	}
	return false
}

// Compare orders as rule A4 says.
func (s StackInstance) Compare(other StackInstance) int {
	if s == other {
		return 0
	}
	return s.path.compare(other.path, StackCallInstance.Compare)
}

// String returns the address as users write it, "<main>" for the root stack.
func (s StackInstance) String() string {
	if s.IsRoot() {
		return "<main>"
	}
	return strings.TrimSuffix(s.prefix(), ".")
}

func (s StackInstance) prefix() string {
	var b strings.Builder
	for _, call := range s.Path() {
		b.WriteString(call.String() + ".")
	}
	return b.String()
}

// item is an object that can stand in a stack: its address there, without the path.
type item[T any] interface {
	comparable
	Compare(other T) int
	String() string
}

// InStack is the configuration address of an item of a stack.
type InStack[T item[T]] struct {
	Stack Stack
	Item  T
}

// Compare orders as rule A4 says.
func (a InStack[T]) Compare(other InStack[T]) int {
	return cmp.Or(a.Stack.Compare(other.Stack), a.Item.Compare(other.Item))
}

// String returns the address as users write it.
func (a InStack[T]) String() string { return a.Stack.prefix() + a.Item.String() }

// InStackInstance is the absolute address of an item of a stack instance.
type InStackInstance[T item[T]] struct {
	Stack StackInstance
	Item  T
}

// Compare orders as rule A4 says.
func (a InStackInstance[T]) Compare(other InStackInstance[T]) int {
	return cmp.Or(a.Stack.Compare(other.Stack), a.Item.Compare(other.Item))
}

// String returns the address as users write it.
func (a InStackInstance[T]) String() string { return a.Stack.prefix() + a.Item.String() }

// ConfigOf drops the stack path's keys from an absolute address whose item has none.
func ConfigOf[T item[T]](a InStackInstance[T]) InStack[T] {
	return InStack[T]{a.Stack.Config(), a.Item}
}
