// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
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

// requiredBy follows the references in expressions of this stack to the
// components they depend on in the end. Nil expressions have none.
func (s *Stack) requiredBy(ctx context.Context, exprs ...hcl.Expression) componentSet {
	required := make(componentSet)
	for _, e := range exprs {
		if e != nil {
			required.addAll(s.requiredByTraversals(ctx, e.Variables()))
		}
	}
	return required
}

func (s *Stack) requiredByTraversals(ctx context.Context, traversals []hcl.Traversal) componentSet {
	required := make(componentSet)
	for _, ref := range expr.References(traversals) {
		required.addAll(s.requiredByReference(ctx, ref.Target))
	}
	return required
}

// requiredByReference raises one reference to components, as section 4.6 of the
// language reference says. A component stands for itself: what it requires is its own matter.
func (s *Stack) requiredByReference(ctx context.Context, target stackaddrs.Referenceable) componentSet {
	switch target := target.(type) {
	case stackaddrs.Component:
		if component, ok := s.components[target.Name]; ok {
			return componentSet{component.addr: {}}
		}
	case stackaddrs.LocalValue:
		if local, ok := s.locals[target.Name]; ok {
			return local.requiredComponents(ctx)
		}
	case stackaddrs.ProviderConfigRef:
		if provider, ok := s.providers[target]; ok {
			return provider.requiredComponents(ctx)
		}
	case stackaddrs.StackCall:
		if call, ok := s.calls[target.Name]; ok {
			return call.requiredByResult(ctx)
		}
	case stackaddrs.InputVariable:
		if s.call != nil {
			return s.call.requiredComponents(ctx)
		}
	}
	return nil
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

// ComponentGraph tells for each component that the configuration produces
// which ones it requires, sorted.
func (m *Main) ComponentGraph(ctx context.Context) map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent {
	graph, err := promising.MainTask(steadyContext(ctx), func(ctx context.Context) (map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent, error) {
		graph := make(map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent)
		for addr := range m.stack.allComponents(ctx) {
			if component := m.component(ctx, addr); component != nil {
				graph[addr] = component.RequiredComponents(ctx).sorted()
			}
		}
		return graph, nil
	})
	if err != nil {
		panic(err) // the task above makes no promises, so it cannot leave any
	}
	return graph
}
