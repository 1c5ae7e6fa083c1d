// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// OccupiedError is the error for a component instance that cannot get an address because another
// one has it, or gets it, too.
type OccupiedError struct {
	Followed
	Cycle bool // the moves lead back to where they began
}

func (e *OccupiedError) Error() string {
	if e.Cycle {
		return fmt.Sprintf("the moves of %s lead back to %s", e.From, e.To)
	}
	return fmt.Sprintf("%s cannot become %s: the state has both", e.From, e.To)
}

// Renaming is the record of a component instance before and after instances got other addresses:
// its own, or those that it requires or that require it.
type Renaming struct{ Before, After *Component }

// Followed is a component instance that moves take to another address.
type Followed struct {
	stackaddrs.Rename
	By []int // the moves by their index, one after the other
}

// Follow finds the component instances of the state that moves concern, sorted by their addresses.
// Those that cannot get their new address are in occupied only, and so are those that the moves
// would lead round in a cycle, with the address that they come back to.
func (s *State) Follow(moves stackaddrs.Moves) (followed []Followed, occupied []*OccupiedError) {
	if len(moves) == 0 {
		return nil, nil
	}
	stays := make(map[stackaddrs.AbsComponentInstance]bool)
	var found []Followed
	for addr := range s.Components {
		to, by, ok := moves.Follow(addr)
		switch one := (Followed{stackaddrs.Rename{From: addr, To: to}, by}); {
		case len(by) == 0:
			stays[addr] = true
		case !ok:
			stays[addr] = true
			occupied = append(occupied, &OccupiedError{one, true})
		default:
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b Followed) int { return a.From.Compare(b.From) })
	for _, one := range found {
		if stays[one.To] {
			occupied = append(occupied, &OccupiedError{one, false})
			continue
		}
		stays[one.To] = true
		followed = append(followed, one)
	}
	slices.SortFunc(occupied, func(a, b *OccupiedError) int { return a.From.Compare(b.From) })
	return followed, occupied
}

// Renames finds the component instances of the state that one move concerns, sorted by their
// addresses.
//
// Errors:
//   - [*OccupiedError]: the state has a component instance at a new address that stays there.
func (s *State) Renames(move stackaddrs.Move) ([]stackaddrs.Rename, error) {
	followed, occupied := s.Follow(stackaddrs.Moves{{Stack: stackaddrs.RootStack, Move: move}})
	if len(occupied) > 0 {
		return nil, occupied[0]
	}
	renames := make([]stackaddrs.Rename, len(followed))
	for i, one := range followed {
		renames[i] = one.Rename
	}
	return renames, nil
}

// Renamed returns the state with component instances at other addresses, and with these in the
// dependencies of all. Instances that it does not have are passed over. Everything else of them
// stays as it is, the states of their modules included.
//
// No two may get one address, and none that of an instance which keeps it: [State.Renames] sees to
// that.
func (s *State) Renamed(renames []stackaddrs.Rename) *State {
	renamed := make(map[stackaddrs.AbsComponentInstance]stackaddrs.AbsComponentInstance, len(renames))
	for _, rename := range renames {
		if s.Components[rename.From] != nil {
			renamed[rename.From] = rename.To
		}
	}
	if len(renamed) == 0 {
		return s
	}
	blocks := s.renamedBlocks(renamed)
	return s.With(func(after *State) {
		for from := range renamed {
			delete(after.Components, from)
		}
		for addr, before := range s.Components {
			c := *before
			to, moves := renamed[addr]
			if moves {
				c.Addr = to
			}
			var changedDependencies, changedDependents bool
			component := stackaddrs.ComponentOf(c.Addr)
			c.Dependencies, changedDependencies = blocks.follow(before.Dependencies, component)
			c.Dependents, changedDependents = blocks.follow(before.Dependents, component)
			if moves || changedDependencies || changedDependents {
				after.Components[c.Addr] = &c
			}
		}
	})
}

// renamedBlocks says which components the instances of a component belong to now.
type renamedBlocks map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent

// renamedBlocks finds the new components of each component with an instance that gets another
// address. One that keeps some of its instances stays among the results.
func (s *State) renamedBlocks(renamed map[stackaddrs.AbsComponentInstance]stackaddrs.AbsComponentInstance) renamedBlocks {
	blocks := make(renamedBlocks)
	for from, to := range renamed {
		component := stackaddrs.ComponentOf(from)
		blocks[component] = append(blocks[component], stackaddrs.ComponentOf(to))
	}
	for addr := range s.Components {
		component := stackaddrs.ComponentOf(addr)
		if _, moves := renamed[addr]; !moves && blocks[component] != nil {
			blocks[component] = append(blocks[component], component)
		}
	}
	return blocks
}

// follow returns the components with those that they have become, sorted, and whether that makes a
// difference. None that is now the same as the one they are recorded of is among them: no component
// requires itself.
func (b renamedBlocks) follow(addrs []stackaddrs.AbsComponent,
	of stackaddrs.AbsComponent,
) (followed []stackaddrs.AbsComponent, changed bool) {
	if !slices.ContainsFunc(addrs, func(addr stackaddrs.AbsComponent) bool { return b[addr] != nil || addr == of }) {
		return addrs, false
	}
	set := make(map[stackaddrs.AbsComponent]bool)
	for _, addr := range addrs {
		now := b[addr]
		if now == nil {
			now = []stackaddrs.AbsComponent{addr}
		}
		for _, addr := range now {
			set[addr] = true
		}
	}
	delete(set, of)
	followed = slices.SortedFunc(maps.Keys(set), stackaddrs.AbsComponent.Compare)
	return followed, !slices.Equal(followed, addrs)
}
