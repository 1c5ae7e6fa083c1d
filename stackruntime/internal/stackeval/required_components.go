// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/planning"
)

// requiredBy returns the components that a block or value of the stack depends on
// (docs/language.md, section 4.6). decl is an argument for [reference.Graph.Requirements].
func (s *Stack) requiredBy(ctx context.Context, decl any) components.Set {
	within := s.main.references().Requirements(s.config.decl, decl)
	required := make(components.Set, len(within.Components))
	for _, name := range within.Components {
		required[s.components[name].addr] = struct{}{}
	}
	for _, name := range within.Calls {
		required.AddAll(s.calls[name].requiredByResult(ctx))
	}
	if within.Variables && s.call != nil {
		required.AddAll(s.call.RequiredComponents(ctx))
	}
	return required
}

// allComponents are the components of the stack and of all instances of the
// stacks it embeds.
func (s *Stack) allComponents(ctx context.Context) components.Set {
	all := make(components.Set)
	for _, component := range s.components {
		all[component.addr] = struct{}{}
	}
	for _, call := range s.calls {
		all.AddAll(call.componentsInside(ctx))
	}
	return all
}

// requirements are the requirements of each component that the configuration produces.
func (m *Main) requirements(ctx context.Context) components.Graph {
	requires := make(components.Graph)
	for addr := range m.stack.allComponents(ctx) {
		if component := m.component(ctx, addr); component != nil {
			requires[addr] = component.RequiredComponents(ctx)
		}
	}
	return requires
}

// ComponentGraph returns for each component that the configuration produces
// which ones it requires, sorted.
func (m *Main) ComponentGraph(ctx context.Context) map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent {
	type requirements = map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent
	graph, err := promising.MainTask(maintask.Steady(ctx), func(ctx context.Context) (requirements, error) {
		return m.requirements(ctx).Sorted(), nil
	})
	if err != nil {
		panic(err) // the task above makes no promises, so it cannot leave any
	}
	return graph
}

// RequiredComponents are those that the state records, since no block names them any more.
func (r *RemovedComponentInstance) RequiredComponents(context.Context) components.Set {
	required := make(components.Set)
	if prior := r.prior(); prior != nil {
		for _, component := range prior.Dependencies {
			required[component] = struct{}{}
		}
	}
	return required
}

// RequiredComponents implements [embedder].
func (c *StackCallInstance) RequiredComponents(ctx context.Context) components.Set {
	return c.call.RequiredComponents(ctx)
}

// RequiredComponents implements [embedder].
func (r *RemovedInstance) RequiredComponents(ctx context.Context) components.Set {
	return r.removed.stack.requiredBy(ctx, r.removed.config.decl)
}

// dependents reports which components another one that exists requires results.
func (m *Main) dependents(ctx context.Context) map[stackaddrs.AbsComponent]bool {
	return m.hasDependents.Value(ctx, func() memo.Aspect[map[stackaddrs.AbsComponent]bool] {
		return memo.Aspect[map[stackaddrs.AbsComponent]bool]{
			Name: "dependents",
			Compute: func(ctx context.Context) (map[stackaddrs.AbsComponent]bool, hcl.Diagnostics) {
				found := make(map[stackaddrs.AbsComponent]bool)
				requires := m.requirements(ctx)
				for _, prior := range m.prior().Components {
					if !planning.HasObjects(prior.Module) {
						continue
					}
					for required := range requires[stackaddrs.ComponentOf(prior.Addr)] {
						found[required] = true
					}
					for _, required := range prior.Dependencies {
						found[required] = true
					}
				}
				return found, nil
			},
		}
	})
}

// isRequired reports whether a component of the configuration depends on another one.
func (m *Main) isRequired(ctx context.Context, addr stackaddrs.AbsComponent) bool {
	for _, required := range m.requirements(ctx) {
		if _, found := required[addr]; found {
			return true
		}
	}
	return false
}
