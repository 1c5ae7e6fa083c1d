// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package moves

import (
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// pattern stands for a module instance with all that is in it, or for instances of a resource.
type pattern struct {
	steps    []step
	resource *stackaddrs.Resource // nil for a module
	key      keyPattern           // of the resource
}

// step is a step to a module that is called.
type step struct {
	name string
	key  keyPattern
}

// keyPattern stands for an instance key, or for any.
type keyPattern struct {
	any bool
	key stackaddrs.InstanceKey
}

func (k keyPattern) matches(key stackaddrs.InstanceKey) bool { return k.any || k.key == key }
func (k keyPattern) overlaps(o keyPattern) bool              { return k.any || o.any || k.key == o.key }

// covers reports whether k stands for all keys that o does.
func (k keyPattern) covers(o keyPattern) bool { return k.any || k == o }

func (k keyPattern) String() string {
	if k.any {
		return "[*]"
	}
	return k.key.String()
}

func (s step) overlaps(o step) bool { return s.name == o.name && s.key.overlaps(o.key) }

// stepsOf returns the steps to all instances of the module that calls with these names lead to.
func stepsOf(path []string) []step {
	steps := make([]step, len(path))
	for i, name := range path {
		steps[i] = step{name, keyPattern{any: true}}
	}
	return steps
}

// newPattern returns the pattern of an end of a statement that is in the module that steps lead to.
func newPattern(in []step, end module.MoveEnd, whole bool) pattern {
	p := pattern{steps: make([]step, 0, len(in)+len(end.Module)), resource: end.Resource}
	p.steps = append(p.steps, in...)
	for _, s := range end.Module {
		p.steps = append(p.steps, step{s.Name, keyPattern{key: s.Key}})
	}
	switch {
	case end.Resource != nil:
		p.key = keyPattern{any: whole, key: end.Key}
	case whole:
		p.steps[len(p.steps)-1].key.any = true
	}
	return p
}

// matchesSteps reports whether a path begins with the steps.
func (p pattern) matchesSteps(path []stackaddrs.ModuleCallInstance) bool {
	if len(path) < len(p.steps) {
		return false
	}
	for i, s := range p.steps {
		if s.name != path[i].Name || !s.key.matches(path[i].Key) {
			return false
		}
	}
	return true
}

// matchesResource reports whether the pattern is that of instances of a resource.
func (p pattern) matchesResource(path []stackaddrs.ModuleCallInstance, r stackaddrs.Resource) bool {
	return p.resource != nil && *p.resource == r && len(p.steps) == len(path) && p.matchesSteps(path)
}

// contains reports whether all objects that other stands for may be in one that p stands for.
func (p pattern) contains(other pattern) bool {
	if len(p.steps) > len(other.steps) || !slices.EqualFunc(p.steps, other.steps[:len(p.steps)], step.overlaps) {
		return false
	}
	if p.resource == nil {
		return true
	}
	return len(p.steps) == len(other.steps) && other.resource != nil && *p.resource == *other.resource && p.key.overlaps(other.key)
}

// overlaps reports whether something may be in both.
func (p pattern) overlaps(other pattern) bool { return p.contains(other) || other.contains(p) }

// isNarrower reports whether p stands for a part of other: all of its keys are as fixed as those of
// other, and one is more so.
func (p pattern) isNarrower(other pattern) bool {
	if len(p.steps) != len(other.steps) || (p.resource == nil) != (other.resource == nil) || p.equal(other) {
		return false
	}
	for i, s := range p.steps {
		if s.name != other.steps[i].name || !other.steps[i].key.covers(s.key) {
			return false
		}
	}
	return p.resource == nil || *p.resource == *other.resource && other.key.covers(p.key)
}

func (p pattern) equal(other pattern) bool {
	if (p.resource == nil) != (other.resource == nil) || !slices.Equal(p.steps, other.steps) {
		return false
	}
	return p.resource == nil || *p.resource == *other.resource && p.key == other.key
}

// String returns a text that only equal patterns share.
func (p pattern) String() string {
	var b strings.Builder
	for _, s := range p.steps {
		b.WriteString("module." + s.name + s.key.String() + ".")
	}
	if p.resource != nil {
		b.WriteString(p.resource.String() + p.key.String())
	}
	return b.String()
}
