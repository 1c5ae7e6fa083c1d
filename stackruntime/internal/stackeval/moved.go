// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/applying"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Moved blocks change the prior state before anything else looks at it: planning goes on from the
// state as it is after the moves, and the plan says which there were. Applying makes the same
// change, and saves it before it begins anything.

// followMoves gives the component instances of the prior state the addresses that moved blocks say.
// The state is unchanged if there are errors.
func (m *Main) followMoves() ([]stackaddrs.Rename, hcl.Diagnostics) {
	prior := m.planning.Prior
	followed, occupied := prior.Follow(stackconfig.Moves(m.movedBlocks))
	if len(occupied) > 0 {
		return nil, m.impossibleMoves(occupied)
	}
	renames := make([]stackaddrs.Rename, len(followed))
	m.movedBy = make(map[stackaddrs.AbsComponentInstance]movedInstance, len(followed))
	for i, one := range followed {
		renames[i] = one.Rename
		m.movedBy[one.To] = movedInstance{one.From, m.movedBlocks[one.By[len(one.By)-1]]}
	}
	m.planning.Prior = prior.Renamed(renames)
	return renames, nil
}

// movedInstance is where a component instance of the prior state was, and the block that has moved
// it.
type movedInstance struct {
	from  stackaddrs.AbsComponentInstance
	block *stackconfig.MovedIn
}

// impossibleMoves explains why component instances cannot get the addresses that blocks give them,
// once for each block.
func (m *Main) impossibleMoves(occupied []*stackstate.OccupiedError) hcl.Diagnostics {
	var diags hcl.Diagnostics
	reported := make(map[*stackconfig.MovedIn]*hcl.Diagnostic)
	for _, one := range occupied {
		block := m.movedBlocks[one.By[len(one.By)-1]]
		if diag := reported[block]; diag != nil {
			diag.Detail += fmt.Sprintf("\nThe same goes for %s and %s.", one.From, one.To)
			continue
		}
		diag := failure.With(fault.Address{Component: one.From, Inner: fault.MoveBlocked}, failure.At(block.ToRange,
			"Move to an occupied address",
			"%[1]s cannot become %[2]s, since the state has something at both addresses. If it has moved already and %[1]s was made anew, remove "+
				"this block. Otherwise give the object at %[2]s another address in the state, or forget it.", one.From, one.To))
		if one.Cycle {
			diag.Extra = fault.Address{Component: one.From}
			diag.Summary = "Cycle of moves"
			diag.Detail = fmt.Sprintf("The moved blocks lead %s back to %s. Remove those that are out of date.", one.From, one.To)
		}
		reported[block] = diag
		diags = diags.Append(diag)
	}
	return diags
}

// recordMoves saves that component instances have other addresses.
func (m *Main) recordMoves(ctx context.Context) hcl.Diagnostics {
	if len(m.applying.renamed) == 0 {
		return nil
	}
	return m.save(ctx, applying.StateChange{Renamed: m.applying.renamed})
}

// Moved is a moved block in one stack instance.
type Moved struct {
	stack *Stack
	decl  *stackconfig.Moved
}

// PlanChanges implements [Plannable]: it reports an instance that is moved away and nevertheless
// declared. Where for_each does not come into it, loading the configuration has seen to that.
func (m *Moved) PlanChanges(ctx context.Context) ([]PlannedChange, hcl.Diagnostics) {
	from := m.decl.Move.From
	if m.stack.disposition != stays || !m.isDeclared(ctx, from) {
		return nil, nil
	}
	return nil, hcl.Diagnostics{failure.At(m.decl.FromRange, "Moved object still declared",
		"The for_each of its block still has %s, and this block moves it to %s. Remove the key there, or remove this block if both are wanted.",
		from.Within(m.stack.addr), m.decl.Move.To.Within(m.stack.addr))}
}

// Check implements [Checkable].
func (m *Moved) Check(context.Context) hcl.Diagnostics { return nil }

// isDeclared reports whether a block produces something: a component or a stack, with a key one
// instance.
func (m *Moved) isDeclared(ctx context.Context, what stackaddrs.Moveable) bool {
	stack := m.stack
	for _, step := range what.Stack.Path() {
		call := stack.calls[step.Call.Name]
		if call == nil || has(call.Instances(ctx), step.Key) != certaintyYes {
			return false
		}
		child, found := embedded(call.Instances(ctx).Instances[step.Key])
		if found != certaintyYes {
			return false
		}
		stack = child
	}
	whole := m.decl.Move.IsWhole()
	if what.Kind == stackaddrs.MoveableStack {
		call := stack.calls[what.Name]
		return call != nil && (whole || has(call.Instances(ctx), what.Key) == certaintyYes)
	}
	component := stack.components[what.Name]
	return component != nil && (whole || has(component.Instances(ctx), what.Key) == certaintyYes)
}

// movedToNothing says that the component instances which one block has moved are at addresses that
// nothing claims.
func (m *Main) movedToNothing(addrs []stackaddrs.AbsComponentInstance) *hcl.Diagnostic {
	moved := m.movedBy[addrs[0]]
	diag := failure.With(fault.Address{Component: addrs[0]}, failure.At(moved.block.ToRange, "Target of a move not declared",
		"This block moves %s to %s, which no block of the configuration produces. Make the address that of an instance that there is, or "+
			"declare it.", moved.from, addrs[0]))
	if len(addrs) > 1 {
		diag.Detail += fmt.Sprintf(" The same goes for %s.", diagnostics.Enumerate(addrs[1:]))
	}
	return diag
}
