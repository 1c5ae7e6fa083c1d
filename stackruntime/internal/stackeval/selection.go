// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
)

// selection says which component instances a plan is limited to.
type selection struct {
	targets  map[stackaddrs.AbsComponentInstance]bool // as given; without a key, all instances are meant
	excluded map[stackaddrs.AbsComponentInstance]bool // as given, likewise

	along    componentSet // what has to be planned with the targets
	excludes componentSet // what cannot be planned without the excluded
}

// isPartial tells whether the plan is limited to a part of the stack.
func (m *Main) isPartial() bool {
	switch {
	case m.planning != nil:
		return len(m.planning.Targets)+len(m.planning.Excludes) > 0
	case m.applying != nil:
		return m.applying.Plan.Partial
	default:
		return false
	}
}

// isSelected tells whether a component instance is to be planned.
func (m *Main) isSelected(ctx context.Context, addr stackaddrs.AbsComponentInstance) bool {
	if !m.isPartial() {
		return true
	}
	s := m.selected.Value(ctx, m.selectionAspect)
	component := stackaddrs.ComponentOf(addr)
	if contains(s.excluded, addr) || s.excludes.has(component) {
		return false
	}
	return len(s.targets) == 0 || contains(s.targets, addr) || s.along.has(component)
}

func contains(given map[stackaddrs.AbsComponentInstance]bool, addr stackaddrs.AbsComponentInstance) bool {
	return given[addr] || given[stackaddrs.InstanceOf(stackaddrs.ComponentOf(addr), stackaddrs.NoKey)]
}

// checkSelection reports addresses that name nothing.
func (m *Main) checkSelection(ctx context.Context) hcl.Diagnostics {
	var diags hcl.Diagnostics
	check := func(code fault.Code, verb string, addrs []stackaddrs.AbsComponentInstance) {
		for _, addr := range addrs {
			if m.isThere(ctx, addr) {
				continue
			}
			diags = diags.Append(&hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "No such component",
				Detail:   fmt.Sprintf("The plan is to %s %s, which neither the configuration nor the state has.%s", verb, addr, m.meantComponent(ctx, addr)),
				Extra:    code,
			})
		}
	}
	check(fault.TargetUnknown, "be limited to", m.planning.Targets)
	check(fault.ExcludeUnknown, "leave out", m.planning.Excludes)
	return diags
}

// meantComponent offers a component, or an instance of one, that may be meant by an address that names nothing.
func (m *Main) meantComponent(ctx context.Context, addr stackaddrs.AbsComponentInstance) string {
	known := make(map[string]bool)
	for component := range m.stack.allComponents(ctx) {
		known[component.String()] = true
		if component := m.component(ctx, component); component != nil {
			for _, inst := range component.Instances(ctx).InOrder() {
				known[inst.addr.String()] = true
			}
		}
	}
	for inState := range m.planning.Prior.Components {
		known[inState.String()] = true
	}
	return meant("", addr.String(), known)
}

// isThere tells whether an address names something that the state has, or that the configuration has or may have:
// all instances of a component, or one.
func (m *Main) isThere(ctx context.Context, addr stackaddrs.AbsComponentInstance) bool {
	if _, inState := m.planning.Prior.Components[addr]; inState {
		return true
	}
	if m.component(ctx, stackaddrs.ComponentOf(addr)) == nil {
		return false
	}
	return addr.Item.Key == stackaddrs.NoKey || m.isClaimed(ctx, addr) != no
}

// selectionAspect follows the requirements of components. What is created needs
// what it requires; what is destroyed, what requires it.
func (m *Main) selectionAspect() memo.Aspect[*selection] {
	return memo.Aspect[*selection]{
		Name:        "selection of components",
		Placeholder: &selection{},
		Compute: func(ctx context.Context) (*selection, hcl.Diagnostics) {
			requires := m.requirements(ctx)
			requiredBy := requires.reversed()
			if m.destroying() {
				requires, requiredBy = requiredBy, requires
			}
			s := &selection{targets: set(m.planning.Targets), excluded: set(m.planning.Excludes)}
			s.along = requires.reach(m.planning.Targets)
			s.excludes = requiredBy.reach(m.planning.Excludes)
			return s, nil
		},
	}
}

func set[T comparable](elements []T) map[T]bool {
	m := make(map[T]bool, len(elements))
	for _, e := range elements {
		m[e] = true
	}
	return m
}
