// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/planning"
)

// isPartial reports whether the plan is limited to a part of the stack.
func (m *Main) isPartial() bool {
	switch {
	case m.planning != nil:
		return m.querying || m.limits().Any()
	case m.applying != nil:
		return m.applying.Plan.Partial
	default:
		return false
	}
}

// isSelected reports whether a component instance is to be planned.
func (m *Main) isSelected(ctx context.Context, addr stackaddrs.AbsComponentInstance) bool {
	if !m.isPartial() {
		return true
	}
	if m.querying {
		return false
	}
	return m.selected.Value(ctx, m.selectionAspect).Has(addr)
}

func (m *Main) limits() planning.Limits {
	if m.planning.Mode == engine.Invoke {
		return planning.Limits{Targets: slices.Collect(maps.Keys(m.planning.Requested)), Alone: true}
	}
	return planning.Limits{Targets: m.planning.Targets, Excludes: m.planning.Excludes}
}

// SelectedComponents returns the components that a plan which is limited to a part of the stack may
// look at, sorted: those that it is limited to and those that they require. It is nil for a plan of
// the whole stack.
func (m *Main) SelectedComponents(ctx context.Context) []stackaddrs.AbsComponent {
	if !m.limits().Any() {
		return nil
	}
	selected, diags := maintask.Run(ctx, &m.panics, func(ctx context.Context) (components.Set, hcl.Diagnostics) {
		requirements := m.requirements(ctx)
		selection := m.selected.Value(ctx, m.selectionAspect)
		selected := components.Set{}
		add := func(component stackaddrs.AbsComponent, has bool) {
			if !has {
				return
			}
			selected[component] = struct{}{}
			for required := range requirements[component] {
				selected[required] = struct{}{}
			}
		}
		for _, addr := range slices.Concat(m.limits().Targets, slices.Collect(maps.Keys(m.planning.Prior.Components))) {
			add(stackaddrs.ComponentOf(addr), selection.Has(addr))
		}
		for component := range m.stack.allComponents(ctx) {
			add(component, selection.Has(stackaddrs.InstanceOf(component, stackaddrs.NoKey)))
		}
		return selected, nil
	})
	if diags.HasErrors() {
		return nil
	}
	return selected.Sorted()
}

// requested returns the actions to invoke in a component instance.
func (m *Main) requested(addr stackaddrs.AbsComponentInstance) engine.Requested {
	requested := m.planning.Requested[addr]
	if addr.Item.Key == stackaddrs.NoKey {
		return requested
	}
	ofAll := m.planning.Requested[stackaddrs.InstanceOf(stackaddrs.ComponentOf(addr), stackaddrs.NoKey)]
	return engine.Requested{
		Actions: slices.Concat(ofAll.Actions, requested.Actions), Callers: slices.Concat(ofAll.Callers, requested.Callers),
	}
}

// checkSelection reports addresses that name nothing.
func (m *Main) checkSelection(ctx context.Context) hcl.Diagnostics {
	var diags hcl.Diagnostics
	check := func(code fault.Code, verb string, addrs []stackaddrs.AbsComponentInstance) {
		for _, addr := range addrs {
			if m.isThere(ctx, addr) {
				continue
			}
			diags = diags.Append(failure.With(code, failure.New("No such component",
				"The plan is to %s %s, which neither the configuration nor the state has.%s", verb, addr, m.meantComponent(ctx, addr))))
		}
	}
	check(fault.TargetUnknown, "be limited to", m.planning.Targets)
	invoked := slices.SortedFunc(maps.Keys(m.planning.Requested), stackaddrs.AbsComponentInstance.Compare)
	check(fault.InvokeUnknown, "invoke actions of", invoked)
	check(fault.ExcludeUnknown, "leave out", m.planning.Excludes)
	return diags
}

// meantComponent offers a component, or an instance of one, that may be meant by an address that
// names nothing.
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

// isThere reports whether an address names something that the state has, or that the configuration
// has or may have: all instances of a component, or one.
func (m *Main) isThere(ctx context.Context, addr stackaddrs.AbsComponentInstance) bool {
	if _, inState := m.planning.Prior.Components[addr]; inState {
		return true
	}
	if m.component(ctx, stackaddrs.ComponentOf(addr)) == nil {
		return false
	}
	return addr.Item.Key == stackaddrs.NoKey || m.isClaimed(ctx, addr) != certaintyNo
}

func (m *Main) selectionAspect() memo.Aspect[*planning.Selection] {
	return memo.Aspect[*planning.Selection]{
		Name:        "selection of components",
		Placeholder: &planning.Selection{},
		Compute: func(ctx context.Context) (*planning.Selection, hcl.Diagnostics) {
			return planning.NewSelection(m.limits(), m.requirements(ctx), m.destroying()), nil
		},
	}
}
