// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package reference

import (
	"slices"

	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Requirements are the objects that the values in a block depend on in the end, as far as the stack
// with the block shows.
type Requirements struct {
	// Components are those of the stack, by name, sorted. Their own requirements are their own matter.
	Components []string

	// Calls are stack calls, by name, sorted: all components in the stacks they embed are required,
	// and the requirements of the blocks.
	Calls []string

	// Variables is set if the values depend on variables of the stack: the requirements of the block
	// that embeds it are required then.
	Variables bool
}

// Requirements returns the requirements of a declaration in a stack of the graph: a
// *stackconfig.Component, LocalValue, OutputValue, ProviderConfig, Removed, or StackCall, for which
// they are those of the block itself. The caller must not change the result.
func (g *Graph) Requirements(stack *stackconfig.Stack, decl any) *Requirements {
	k := key{stack, decl, whole}
	if _, ok := decl.(*stackconfig.StackCall); ok {
		k.part = callInputs
	}
	i, ok := g.items[k]
	if !ok {
		return &Requirements{}
	}
	g.raise()
	return i.required
}

// raiseAll makes all requirements, in an order that does not depend on who asks first: within a
// cycle, they do.
func (g *Graph) raiseAll() {
	for _, i := range g.all {
		i.raise()
	}
}

func (i *item) raise() *Requirements {
	if i.required != nil {
		return i.required
	}
	r := &Requirements{Variables: i.variables}
	i.required = r
	for _, used := range i.uses {
		component, isComponent := used.decl.(*stackconfig.Component)
		switch {
		case used.stack != i.stack: // the inputs of the call that embeds the stack: Variables stands for them
		case isComponent:
			r.Components = append(r.Components, component.Name)
		case used.part == callOutputs:
			r.Calls = append(r.Calls, used.decl.(*stackconfig.StackCall).Name) //nolint:forcetypeassert // only calls have outputs
		default:
			from := used.raise()
			r.Components = append(r.Components, from.Components...)
			r.Calls = append(r.Calls, from.Calls...)
			r.Variables = r.Variables || from.Variables
		}
	}
	r.Components, r.Calls = sortedSet(r.Components), sortedSet(r.Calls)
	return r
}

func sortedSet(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
