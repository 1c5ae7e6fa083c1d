// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"cmp"
	"slices"
	"strings"
	"unique"
)

// Stack is the configuration address of a stack: the names of the calls that
// lead to it. The zero value is the root stack.
type Stack struct {
	step unique.Handle[stackStep]
}

type stackStep struct {
	parent Stack
	name   string
}

// RootStack is the stack at the root of the configuration tree.
var RootStack = Stack{}

// Child returns the address of the stack which the call named name includes.
func (s Stack) Child(name string) Stack {
	return Stack{unique.Make(stackStep{s, name})}
}

// IsRoot tells whether s is the root stack.
func (s Stack) IsRoot() bool { return s == RootStack }

// Parent returns the calling stack and the name of the call in it. The root
// stack has no caller: ok is false.
func (s Stack) Parent() (caller Stack, name string, ok bool) {
	if s.IsRoot() {
		return RootStack, "", false
	}
	step := s.step.Value()
	return step.parent, step.name, true
}

// Path returns the names of the calls from the root down to s.
func (s Stack) Path() []string {
	var path []string
	for !s.IsRoot() {
		caller, name, _ := s.Parent()
		path = append(path, name)
		s = caller
	}
	slices.Reverse(path)
	return path
}

// Depth is the number of calls between the root stack and s.
func (s Stack) Depth() int {
	depth := 0
	for !s.IsRoot() {
		s, _, _ = s.Parent()
		depth++
	}
	return depth
}

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
type StackInstance struct {
	step unique.Handle[stackInstanceStep]
}

type stackInstanceStep struct {
	parent StackInstance
	call   StackCallInstance
}

// RootStackInstance is the only instance of the root stack.
var RootStackInstance = StackInstance{}

// Child returns the address of the stack instance which one instance of a call
// in s includes.
func (s StackInstance) Child(name string, key InstanceKey) StackInstance {
	return StackInstance{unique.Make(stackInstanceStep{s, StackCallInstance{StackCall{name}, key}})}
}

// IsRoot tells whether s is the root stack.
func (s StackInstance) IsRoot() bool { return s == RootStackInstance }

// Parent returns the calling stack instance and the instance of the call in
// it. The root stack has no caller: ok is false.
func (s StackInstance) Parent() (caller StackInstance, call StackCallInstance, ok bool) {
	if s.IsRoot() {
		return RootStackInstance, StackCallInstance{}, false
	}
	step := s.step.Value()
	return step.parent, step.call, true
}

// Path returns the call instances from the root down to s.
func (s StackInstance) Path() []StackCallInstance {
	var path []StackCallInstance
	for !s.IsRoot() {
		caller, call, _ := s.Parent()
		path = append(path, call)
		s = caller
	}
	slices.Reverse(path)
	return path
}

// Config returns the configuration address: s without its keys.
func (s StackInstance) Config() Stack {
	if s.IsRoot() {
		return RootStack
	}
	caller, call, _ := s.Parent()
	return caller.Config().Child(call.Call.Name)
}

// Contains tells whether other is s or is reached through s.
func (s StackInstance) Contains(other StackInstance) bool {
	for {
		if s == other {
			return true
		}
		caller, _, ok := other.Parent()
		if !ok {
			return false
		}
		other = caller
	}
}

// HasWildcard tells whether a step of s stands for instances not known yet.
func (s StackInstance) HasWildcard() bool {
	for !s.IsRoot() {
		caller, call, _ := s.Parent()
		if call.Key.IsWildcard() {
			return true
		}
		s = caller
	}
	return false
}

// Compare orders as rule A4 says.
func (s StackInstance) Compare(other StackInstance) int {
	if s == other {
		return 0
	}
	return slices.CompareFunc(s.Path(), other.Path(), StackCallInstance.Compare)
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

// item is what can stand in a stack: its address there, without the path.
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
