// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"cmp"
	"slices"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// The part of loading removed blocks that needs the tree of stacks.

// removal is a removed block in one stack of the tree.
type removal struct {
	stack  *Stack
	block  *Removed
	target stackaddrs.Stack // the stack that is removed or that has the removed component
}

// removals returns the removed blocks of a stack and the stacks below it.
func removals(top *Stack) []removal {
	var found []removal
	top.walk(func(s *Stack) {
		for _, block := range s.Removed {
			target := s.Addr
			for _, step := range block.From.Stacks {
				target = target.Child(step.Name)
			}
			found = append(found, removal{s, block, target})
		}
	})
	return found
}

// attachRemoved loads the stacks that removed blocks name, so that they are in
// the tree as others are. Shallow targets come first: deeper ones can lie in them.
func (l *loader) attachRemoved() {
	byDepth := map[int][]removal{}
	deepest := 0
	enqueue := func(top *Stack) {
		for _, r := range removals(top) {
			if r.block.From.Component == nil {
				depth := r.target.Depth()
				byDepth[depth] = append(byDepth[depth], r)
				deepest = max(deepest, depth)
			}
		}
	}
	enqueue(l.nodes[stackaddrs.RootStack].stack)
	for depth := 1; depth <= deepest; depth++ {
		slices.SortStableFunc(byDepth[depth], func(a, b removal) int {
			return cmp.Or(a.target.Compare(b.target), a.stack.Addr.Compare(b.stack.Addr))
		})
		for _, r := range byDepth[depth] {
			if attached := l.attach(r); attached != nil {
				enqueue(attached) // its own targets lie deeper
			}
		}
	}
}

// attach loads the target of one block and returns it, or nil if it was there
// already or cannot be loaded.
func (l *loader) attach(r removal) *Stack {
	if known, claimed := l.stackClaims[r.target]; claimed {
		if diag := disagreement(r.target, known, r.block.Source); diag != nil {
			l.report(diag)
		}
		return nil
	}
	caller, name, _ := r.target.Parent()
	parent, ok := l.nodes[caller]
	if !ok {
		l.missingStack(r, caller)
		return nil
	}
	l.stackClaims[r.target] = r.block.Source
	l.embed(parent, name, r.block.Source)
	return parent.stack.Children[name]
}

// checkRemovedComponents checks the targets that are components, once all
// stacks are known. One in a stack that is missing matters only if there is
// such a component in the state, which is for the plan to report.
func (l *loader) checkRemovedComponents(root *Stack) {
	found := removals(root)
	slices.SortStableFunc(found, func(a, b removal) int {
		return cmp.Compare(a.stack.Addr.Depth(), b.stack.Addr.Depth())
	})
	for _, r := range found {
		if r.block.From.Component != nil {
			l.checkSource(r)
		}
	}
}

// checkSource checks that all blocks with one component target have one source.
func (l *loader) checkSource(r removal) {
	name := r.block.From.Component.Name
	target := stackaddrs.ConfigComponent{Stack: r.target, Item: stackaddrs.Component{Name: name}}
	known, claimed := l.claims[target]
	if c, declared := r.stack.Components[name]; declared && r.block.From.isOwnComponent() {
		known, claimed = c.Source, true
	}
	if !claimed {
		l.claims[target] = r.block.Source
		return
	}
	if diag := disagreement(target, known, r.block.Source); diag != nil {
		l.report(diag)
	}
}

// missingStack reports a target inside a stack that is not in the tree, unless
// there is a reported reason for that.
func (l *loader) missingStack(r removal, missing stackaddrs.Stack) {
	for {
		caller, _, ok := missing.Parent()
		if !ok || l.broken[missing] {
			return
		}
		if parent, ok := l.nodes[caller]; ok {
			if parent.stack.Incomplete {
				return
			}
			break
		}
		missing = caller
	}
	l.report(failure.At(r.block.From.Range, "Removal target lies in a missing stack",
		"%s is neither declared nor removed. To remove a stack with all that is in it, name the stack itself in from.", missing))
}
