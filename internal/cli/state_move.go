// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

func stateMoveCommand() *session.Command {
	var dryRun bool
	return &session.Command{
		Name:    "mv",
		Args:    "FROM TO",
		Summary: "Gives a component, an embedded stack or a resource another address.",
		Long: `
Without a key, as in component.a, all instances are meant, and keep their keys. With a key in one of the two it is one
instance, and the address without a key is that of a block without for_each. A resource can get another address in
its component, or in another one.

Only the state is changed; the configuration has to have the new name, too. Where others have states of the same
configuration, or review what is planned, a moved block does the same with the next apply.`,
		Example: "cairn state mv component.network component.vpc\n" +
			"cairn state mv component.network 'component.network[\"eu\"]'\n" +
			"cairn state mv 'stack.region[\"eu\"]' 'stack.region[\"europe\"]'\n" +
			"cairn state mv component.app.aws_s3_bucket.logs component.logs.aws_s3_bucket.main",
		MinArgs: 2, MaxArgs: 2,
		Flags: func(f *session.Flags) {
			f.BoolVar(&dryRun, "dry-run", false, "show what would get which address, and change nothing")
			session.LockFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			move, err := parseStateMove(args[0], args[1])
			if err != nil {
				return 0, err
			}
			if dryRun {
				stored, err := s.Stack().ReadState(ctx)
				if err != nil {
					return 0, err
				}
				_, lines, err := move.apply(stored.State)
				if err != nil {
					return 0, err
				}
				listMoves(s, "Would move", lines)
				s.Print("Nothing was changed.\n")
				return cmdline.ExitOK, nil
			}
			var lines [][2]string
			status, err := changeState(ctx, s, "state mv", func(stored *deployment.Stored) (map[string][]byte, error) {
				var after *stackstate.State
				var err error
				if after, lines, err = move.apply(stored.State); err != nil {
					return nil, err
				}
				return stackstate.Diff(stored.State, after)
			})
			if err == nil {
				listMoves(s, "Moved", lines)
			}
			return status, err
		},
	}
}

func listMoves(s *session.Session, verb string, lines [][2]string) {
	for _, line := range lines {
		s.Line(verb+" %s to %s.", line[0], line[1])
	}
}

// stateMove is what "state mv" does: with a component, a stack or a resource.
type stateMove interface {
	// apply returns the state after the move, and the addresses before and after of all that has moved.
	apply(state *stackstate.State) (after *stackstate.State, moved [][2]string, err error)
}

func parseStateMove(from, to string) (stateMove, error) {
	fromBlock, fromErr := stackaddrs.ParseMoveable(from)
	toBlock, toErr := stackaddrs.ParseMoveable(to)
	if fromErr == nil && toErr == nil {
		move := stackaddrs.Move{From: fromBlock, To: toBlock}
		if err := move.Check(); err != nil {
			return nil, failure.Error("Impossible move", "%s.", failure.Capitalize(err.Error()))
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
		return nil, failure.Error("Impossible move", "%s would stay where it is.", from)
	case source.Item.Resource.Mode != target.Item.Resource.Mode || source.Item.Resource.Type != target.Item.Resource.Type:
		return nil, failure.Error("Impossible move", "%s and %s are resources of different types. The state of one cannot be that of the other.", from, to)
	}
	return move, nil
}

func parseMovedResource(address string) (stackaddrs.AbsResourceInstance, error) {
	addr, err := stackaddrs.ParseAbsResourceInstance(address)
	if err != nil || addr.Item.Resource.Mode == stackaddrs.EphemeralResource {
		return addr, failure.Error("Wrong address", "Both addresses must be those of components, like component.x or stack.a.component.x[\"y\"], or both "+
			"those of embedded stacks, like stack.a[\"y\"], or both those of resources, like component.x.aws_instance.y[0]; %q does not fit.", address)
	}
	return addr, nil
}

// blockMove is a move of a component or of an embedded stack, or of one instance.
type blockMove struct{ stackaddrs.Move }

func (m blockMove) apply(state *stackstate.State) (*stackstate.State, [][2]string, error) {
	renames, err := state.Renames(m.Move)
	var occupied *stackstate.OccupiedError
	switch {
	case errors.As(err, &occupied):
		return nil, nil, occupiedError(occupied.From.String(), occupied.To.String())
	case err != nil:
		return nil, nil, err
	case len(renames) == 0:
		return nil, nil, m.nothing(state)
	}
	lines := make([][2]string, len(renames))
	for i, rename := range renames {
		lines[i] = [2]string{rename.From.String(), rename.To.String()}
	}
	return state.Renamed(renames), lines, nil
}

func occupiedError(from, to string) error {
	return failure.Error("Address is taken", "%[1]s cannot become %[2]s, since the state has something at both addresses. "+
		"Move away what is at %[2]s first, or forget it with: cairn state rm '%[2]s'", from, to)
}

// nothing says that the state has nothing that could be moved.
func (m blockMove) nothing(state *stackstate.State) error {
	known := make(map[string]bool)
	for addr := range state.Components {
		known[addr.String()] = true
		for stack := addr.Stack; !stack.IsRoot(); stack, _, _ = stack.Parent() {
			known[stack.String()] = true
		}
	}
	return failure.Error("Not in the state", "The state has nothing at %s.%s \"cairn state list\" shows what it has.",
		m.From, nearest.DidYouMean(m.From.String(), slices.Collect(maps.Keys(known))))
}

// resourceMove is a move of a resource, or of one instance.
type resourceMove struct {
	from, to stackaddrs.AbsComponentInstance
	move     stackstate.ResourceMove
}

func (m resourceMove) apply(state *stackstate.State) (*stackstate.State, [][2]string, error) {
	stored := &deployment.Stored{State: state}
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
		return nil, nil, failure.Error("Resource cannot be moved", "The state of a component cannot be changed: %s.", err)
	}
	lines := make([][2]string, len(renames))
	for i, rename := range renames {
		lines[i] = [2]string{m.address(m.from, rename.From), m.address(m.to, rename.To)}
	}
	return state.With(func(after *stackstate.State) {
		after.Components[m.from] = fromAfter
		after.Components[m.to] = toAfter
	}), lines, nil
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
	return failure.Error("Not in the state", "The state of %s has no %s.%s \"cairn state list\" shows what it has.",
		m.from, m.move.From, nearest.DidYouMeanBelow(m.from.String()+".", m.move.From.String(), known))
}
