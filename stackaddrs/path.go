// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"cmp"
	"unique"
)

// path is a way from a root through steps of one kind. Paths are interned: one
// of any depth is as large as a pointer. The zero value is the root.
type path[S comparable] struct {
	last unique.Handle[pathStep[S]]
}

type pathStep[S comparable] struct {
	parent path[S]
	step   S
}

func (p path[S]) child(step S) path[S] {
	return path[S]{unique.Make(pathStep[S]{p, step})}
}

func (p path[S]) isRoot() bool { return p == path[S]{} }

// split returns the parent and the last step. The root has neither: ok is false.
func (p path[S]) split() (parent path[S], last S, ok bool) {
	if p.isRoot() {
		return p, last, false
	}
	step := p.last.Value()
	return step.parent, step.step, true
}

// steps returns the steps from the root on.
func (p path[S]) steps() []S {
	if p.isRoot() {
		return nil
	}
	steps := make([]S, p.depth())
	i := len(steps)
	for parent, step, ok := p.split(); ok; parent, step, ok = parent.split() {
		i--
		steps[i] = step
	}
	return steps
}

// compare orders paths by their steps from the root on, and one before those that go on from it.
func (p path[S]) compare(other path[S], steps func(a, b S) int) int {
	mine, theirs := p.depth(), other.depth()
	result := cmp.Compare(mine, theirs)
	for ; mine > theirs; mine-- {
		p, _, _ = p.split()
	}
	for ; theirs > mine; theirs-- {
		other, _, _ = other.split()
	}
	for p != other {
		var a, b S
		p, a, _ = p.split()
		other, b, _ = other.split()
		if c := steps(a, b); c != 0 {
			result = c // until one nearer to the root
		}
	}
	return result
}

func (p path[S]) depth() int {
	depth := 0
	for parent, _, ok := p.split(); ok; parent, _, ok = parent.split() {
		depth++
	}
	return depth
}

// contains reports whether other is p or goes on from it.
func (p path[S]) contains(other path[S]) bool {
	for ok := true; ok; other, _, ok = other.split() {
		if other == p {
			return true
		}
	}
	return false
}
