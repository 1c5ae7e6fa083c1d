// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/reference"
)

// componentSet is a set of components. Sets are shared: never change one that
// somebody else has made.
type componentSet map[stackaddrs.AbsComponent]struct{}

func (s componentSet) addAll(other componentSet) {
	maps.Copy(s, other)
}

func (s componentSet) has(component stackaddrs.AbsComponent) bool {
	_, ok := s[component]
	return ok
}

func (s componentSet) sorted() []stackaddrs.AbsComponent {
	return slices.SortedFunc(maps.Keys(s), stackaddrs.AbsComponent.Compare)
}

// requiredBy returns the components that a block or value of the stack depends on (docs/language.md, section 4.6). decl is what
// [reference.Graph.Requirements] takes.
func (s *Stack) requiredBy(ctx context.Context, decl any) componentSet {
	within := s.main.references().Requirements(s.config.decl, decl)
	required := make(componentSet, len(within.Components))
	for _, name := range within.Components {
		required[s.components[name].addr] = struct{}{}
	}
	for _, name := range within.Calls {
		required.addAll(s.calls[name].requiredByResult(ctx))
	}
	if within.Variables && s.call != nil {
		required.addAll(s.call.RequiredComponents(ctx))
	}
	return required
}

// allComponents are the components of the stack and of all instances of the
// stacks it embeds.
func (s *Stack) allComponents(ctx context.Context) componentSet {
	all := make(componentSet)
	for _, component := range s.components {
		all[component.addr] = struct{}{}
	}
	for _, call := range s.calls {
		all.addAll(call.componentsInside(ctx))
	}
	return all
}

// componentGraph has the components that each component leads to: what it requires, or what requires it.
type componentGraph map[stackaddrs.AbsComponent]componentSet

func (g componentGraph) add(from, to stackaddrs.AbsComponent) {
	if g[from] == nil {
		g[from] = make(componentSet)
	}
	g[from][to] = struct{}{}
}

// reversed is the graph with its edges turned round.
func (g componentGraph) reversed() componentGraph {
	r := make(componentGraph, len(g))
	for from, others := range g {
		for to := range others {
			r.add(to, from)
		}
	}
	return r
}

// reach returns all that the components of some instances lead to; see [reference.Reach].
func (g componentGraph) reach(from []stackaddrs.AbsComponentInstance) componentSet {
	components := func(yield func(stackaddrs.AbsComponent) bool) {
		for _, addr := range from {
			if !yield(stackaddrs.ComponentOf(addr)) {
				return
			}
		}
	}
	return reference.Reach(components, func(c stackaddrs.AbsComponent) iter.Seq[stackaddrs.AbsComponent] { return maps.Keys(g[c]) })
}

// sorted has the same in order.
func (g componentGraph) sorted() map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent {
	sorted := make(map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent, len(g))
	for from, others := range g {
		sorted[from] = others.sorted()
	}
	return sorted
}

// requirements are what each component that the configuration produces requires.
func (m *Main) requirements(ctx context.Context) componentGraph {
	requires := make(componentGraph)
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
	graph, err := promising.MainTask(steadyContext(ctx), func(ctx context.Context) (map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent, error) {
		return m.requirements(ctx).sorted(), nil
	})
	if err != nil {
		panic(err) // the task above makes no promises, so it cannot leave any
	}
	return graph
}

// RequiredComponents implements [Applyable].
func (v *InputVariable) RequiredComponents(ctx context.Context) componentSet {
	if v.stack.call == nil {
		return nil
	}
	return v.stack.call.RequiredComponents(ctx)
}

// RequiredComponents implements [Applyable].
func (l *LocalValue) RequiredComponents(ctx context.Context) componentSet {
	return l.stack.requiredBy(ctx, l.config.decl)
}

// RequiredComponents implements [Applyable].
func (o *OutputValue) RequiredComponents(ctx context.Context) componentSet {
	return o.stack.requiredBy(ctx, o.config.decl)
}

// RequiredComponents implements [Applyable].
func (p *Provider) RequiredComponents(ctx context.Context) componentSet {
	return p.stack.requiredBy(ctx, p.config.decl)
}

// RequiredComponents implements [Applyable].
func (p *ProviderInstance) RequiredComponents(ctx context.Context) componentSet {
	return p.provider.RequiredComponents(ctx)
}

// RequiredComponents implements [Applyable].
func (c *ComponentInstance) RequiredComponents(ctx context.Context) componentSet {
	return c.component.RequiredComponents(ctx)
}

// RequiredComponents implements [Applyable]: those that the state records, since no block says any more what they were.
func (r *RemovedComponentInstance) RequiredComponents(context.Context) componentSet {
	required := make(componentSet)
	if prior := r.prior(); prior != nil {
		for _, component := range prior.Dependencies {
			required[component] = struct{}{}
		}
	}
	return required
}

// RequiredComponents implements [Applyable].
func (c *StackCallInstance) RequiredComponents(ctx context.Context) componentSet {
	return c.call.RequiredComponents(ctx)
}

// RequiredComponents implements [Applyable].
func (r *Removed) RequiredComponents(ctx context.Context) componentSet {
	return r.stack.requiredBy(ctx, r.config.decl)
}

// RequiredComponents implements [Applyable].
func (r *RemovedInstance) RequiredComponents(ctx context.Context) componentSet {
	return r.removed.RequiredComponents(ctx)
}

// RequiredComponents implements [Applyable]: those that the blocks require.
func (r *removals[I]) RequiredComponents(ctx context.Context) componentSet {
	required := make(componentSet)
	for _, block := range r.blocks {
		required.addAll(block.RequiredComponents(ctx))
	}
	return required
}

// RequiredComponents implements [Applyable]: the addresses in the block are fixed.
func (m *Moved) RequiredComponents(context.Context) componentSet { return nil }
