// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package claims

import (
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Removal is a removed block of type B that names an instance, or may name it if its key is the
// wildcard.
type Removal[B any] struct {
	Key stackaddrs.InstanceKey
	By  B
}

// Contest is about the instances of one component, or of one embedded stack: which there are, and
// which blocks want them.
type Contest[B any] struct {
	Existing []stackaddrs.InstanceKey

	// Declares reports whether the block that declares the component or stack has the instance.
	Declares func(stackaddrs.InstanceKey) bool
	// MayDeclare: that block may have any instance, as its for_each is not known.
	MayDeclare bool
	// Removed blocks whose keys are known, and those whose keys are not; the first to come first.
	Named, Unknown []Removal[B]
}

// Claim is an instance that a removed block gets.
type Claim[B any] struct {
	By B

	// StandIn is set if that the block names the instance is not known, only that no other block can
	// have it.
	StandIn bool
}

// Conflict is a mistake of the configuration: a removed block names an instance that another block
// has.
type Conflict[B any] struct {
	Key stackaddrs.InstanceKey
	By  B

	// With is the removed block that has the instance. Declared is set instead if that is the block
	// which declares it.
	With     B
	Declared bool
}

// Assign decides which of the existing instances removed blocks get. Blocks that declare an
// instance come first, then removed blocks that name it, then blocks that may declare it, then
// removed blocks that may name it. Two blocks that name an instance which exists are a conflict,
// and so is one that names an instance which is declared.
func Assign[B any](c Contest[B]) (map[stackaddrs.InstanceKey]Claim[B], []Conflict[B]) {
	claimed := make(map[stackaddrs.InstanceKey]Claim[B])
	var conflicts []Conflict[B]
	taken := make(map[stackaddrs.InstanceKey]B)
	for _, removal := range c.Named {
		exists := slices.Contains(c.Existing, removal.Key)
		other, isTaken := taken[removal.Key]
		switch {
		case isTaken && !exists:
			continue // neither has anything to remove
		case isTaken:
			conflicts = append(conflicts, Conflict[B]{Key: removal.Key, By: removal.By, With: other})
			continue
		case c.Declares(removal.Key):
			conflicts = append(conflicts, Conflict[B]{Key: removal.Key, By: removal.By, Declared: true})
		case exists:
			claimed[removal.Key] = Claim[B]{By: removal.By}
		}
		taken[removal.Key] = removal.By
	}
	if c.MayDeclare {
		return claimed, conflicts
	}
	for _, key := range c.Existing {
		if _, isTaken := taken[key]; isTaken || c.Declares(key) {
			continue
		}
		if i := slices.IndexFunc(c.Unknown, func(removal Removal[B]) bool { return Matches(removal.Key, key) }); i >= 0 {
			claimed[key] = Claim[B]{By: c.Unknown[i].By, StandIn: true}
		}
	}
	return claimed, conflicts
}
