// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package claims

import (
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Target is the object that one instance of a removed block names: a component instance, or a stack
// instance with all that is in it. Keys that are not known before apply are wildcards.
type Target struct {
	Stack     stackaddrs.StackInstance // that the component is in, or that embeds the one to remove
	Component string                   // empty if a stack is removed
	Call      string                   // empty if a component is removed
	Key       stackaddrs.InstanceKey

	// Whole is set if there is no key because the block has no index: all instances of the
	// component or stack have to go.
	Whole bool

	// Unknown is set if one of the keys that the block evaluates is not known.
	Unknown bool
}

// Removals are the removals by the target among the existing instances of its component or stack,
// for the block that names it.
func Removals[B any](t *Target, by B, existing []stackaddrs.InstanceKey) []Removal[B] {
	named := []Removal[B]{{Key: t.Key, By: by}}
	for _, key := range slices.SortedFunc(slices.Values(existing), stackaddrs.InstanceKey.Compare) {
		if t.Whole && key != t.Key {
			named = append(named, Removal[B]{Key: key, By: by})
		}
	}
	return named
}

// matches reports whether an instance with a key has to go.
func (t *Target) matches(key stackaddrs.InstanceKey) bool { return t.Whole || Matches(t.Key, key) }

// Covers reports whether a component instance is the target, or is in it. With unknown keys it may
// only be so.
func (t *Target) Covers(addr stackaddrs.AbsComponentInstance) bool {
	if t.Component != "" {
		return t.IsIn(addr.Stack) && t.Component == addr.Item.Component.Name && t.matches(addr.Item.Key)
	}
	for stack := addr.Stack; ; {
		caller, step, ok := stack.Parent()
		if !ok {
			return false
		}
		if t.IsIn(caller) && t.Call == step.Call.Name && t.matches(step.Key) {
			return true
		}
		stack = caller
	}
}

// IsIn reports whether the target is directly in a stack instance. With unknown keys it may only be
// so.
func (t *Target) IsIn(stack stackaddrs.StackInstance) bool {
	pattern := t.Stack
	for pattern != stack {
		outer, want, ok := pattern.Parent()
		caller, step, more := stack.Parent()
		if !ok || !more || want.Call != step.Call || !Matches(want.Key, step.Key) {
			return false
		}
		pattern, stack = outer, caller
	}
	return true
}

// Matches reports whether a key is the one that a pattern stands for: itself, or any for the
// wildcard.
func Matches(pattern, key stackaddrs.InstanceKey) bool { return pattern.IsWildcard() || pattern == key }
