// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"errors"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Moved is an object or component that has, or would have, another address.
type Moved struct{ From, To string }

// Move gives a component, an embedded stack or a resource another address in a state.
type Move interface {
	// Apply returns the state after the move, and all that has moved.
	Apply(state *stackstate.State) (after *stackstate.State, moved []Moved, err error)
}

// ParseMove returns the move from one address to another, if there can be one in any state.
func ParseMove(from, to string) (Move, error) {
	fromBlock, fromErr := stackaddrs.ParseMoveable(from)
	toBlock, toErr := stackaddrs.ParseMoveable(to)
	if fromErr == nil && toErr == nil {
		move := stackaddrs.Move{From: fromBlock, To: toBlock}
		if err := move.Check(); err != nil {
			return nil, failure.Error("Invalid move", "%s.", failure.Capitalize(err.Error()))
		}
		return blockMove{move}, nil
	}
	source, err := parseMovedResource(from)
	if err != nil {
		return nil, err
	}
	target, err := parseMovedResource(to)
	if err != nil {
		return nil, err
	}
	move := resourceMove{source.Component, target.Component, stackstate.ResourceMove{From: source.Item, To: target.Item}}
	switch {
	case from == to:
		return nil, failure.Error("Invalid move", "%s would stay where it is.", from)
	case source.Item.Resource.Mode != target.Item.Resource.Mode || source.Item.Resource.Type != target.Item.Resource.Type:
		return nil, failure.Error("Invalid move", "%s and %s are resources of different types. The state of one cannot be that of the other.",
			from, to)
	}
	return move, nil
}

func parseMovedResource(address string) (stackaddrs.AbsResourceInstance, error) {
	addr, err := stackaddrs.ParseAbsResourceInstance(address)
	if err != nil || addr.Item.Resource.Mode == stackaddrs.EphemeralResource {
		return addr, failure.Error("Invalid address", "Both addresses must be those of components, like component.x or "+
			"stack.a.component.x[\"y\"], or both those of embedded stacks, like stack.a[\"y\"], or both those of resources, like "+
			"component.x.aws_instance.y[0]; %q does not fit.", address)
	}
	return addr, nil
}

// blockMove is a move of a component or of an embedded stack, or of one instance.
type blockMove struct{ stackaddrs.Move }

// Apply is part of [Move].
func (m blockMove) Apply(state *stackstate.State) (*stackstate.State, []Moved, error) {
	renames, err := state.Renames(m.Move)
	var occupied *stackstate.OccupiedError
	switch {
	case errors.As(err, &occupied):
		return nil, nil, occupiedError(occupied.From.String(), occupied.To.String())
	case err != nil:
		return nil, nil, err
	case len(renames) == 0:
		stored := &Stored{State: state}
		return nil, nil, notInState("The state has nothing at %s.%s", m.From, nearest.DidYouMean(m.From.String(), stored.places()))
	}
	moved := make([]Moved, len(renames))
	for i, rename := range renames {
		moved[i] = Moved{rename.From.String(), rename.To.String()}
	}
	return state.Renamed(renames), moved, nil
}

func occupiedError(from, to string) error {
	diag := failure.New("Address already in use", "%[1]s cannot become %[2]s, since the state has something at both addresses. "+
		"First give the object at %[2]s another address, or have the state forget it.", from, to)
	diag.Extra = fault.Named{Code: CodeOccupied, Names: []string{to}}
	return hcl.Diagnostics{diag}
}

// resourceMove is a move of a resource, or of one instance.
type resourceMove struct {
	from, to stackaddrs.AbsComponentInstance
	move     stackstate.ResourceMove
}

// Apply is part of [Move].
func (m resourceMove) Apply(state *stackstate.State) (*stackstate.State, []Moved, error) {
	stored := &Stored{State: state}
	source, err := stored.Find(m.from.String())
	if err != nil {
		return nil, nil, err
	}
	to := state.Components[m.to]
	if to == nil {
		to = &stackstate.Component{Addr: m.to}
	}
	fromAfter, toAfter, renames, err := stackstate.MoveResource(source.Component, to, m.move)
	var occupied *stackstate.ResourceOccupiedError
	switch {
	case errors.Is(err, stackstate.ErrNoResource):
		return nil, nil, m.nothing(source.Component)
	case errors.As(err, &occupied):
		return nil, nil, occupiedError(m.address(m.from, occupied.From), m.address(m.to, occupied.To))
	case err != nil:
		return nil, nil, failure.Error("Resource not moved", "The state of a component cannot be changed: %s.", err)
	}
	moved := make([]Moved, len(renames))
	for i, rename := range renames {
		moved[i] = Moved{m.address(m.from, rename.From), m.address(m.to, rename.To)}
	}
	return state.With(func(after *stackstate.State) {
		after.Components[m.from] = fromAfter
		after.Components[m.to] = toAfter
	}), moved, nil
}

func (m resourceMove) address(component stackaddrs.AbsComponentInstance, resource stackaddrs.ResourceInstance) string {
	return component.String() + "." + resource.String()
}

func (m resourceMove) nothing(component *stackstate.Component) error {
	objects, err := tfstate.ParseObjects(component.Module)
	if err != nil {
		return err
	}
	var known []string
	for _, object := range objects {
		known = append(known, object.Addr.String())
	}
	return notInState("The state of %s has no %s.%s",
		m.from, m.move.From, nearest.DidYouMeanBelow(m.from.String()+".", m.move.From.String(), known))
}
