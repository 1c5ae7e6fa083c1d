// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// ResourceMove gives a resource another address, in its component or in another one. As with
// [stackaddrs.Move], addresses without a key mean all instances of the resource.
type ResourceMove struct{ From, To stackaddrs.ResourceInstance }

// ResourceRename is a resource instance that gets another address.
type ResourceRename struct{ From, To stackaddrs.ResourceInstance }

// ErrNoResource is the error for a resource that the state does not have.
var ErrNoResource = errors.New("the resource is not in the state")

// ResourceOccupiedError is the error for a resource instance that cannot get an address because
// another one has it.
type ResourceOccupiedError struct{ ResourceRename }

func (e *ResourceOccupiedError) Error() string {
	return fmt.Sprintf("%s cannot become %s: the state has both", e.From, e.To)
}

func (m ResourceMove) rename(addr stackaddrs.ResourceInstance) (renamed stackaddrs.ResourceInstance, ok bool) {
	block := m.From
	if m.From.Key == stackaddrs.NoKey && m.To.Key == stackaddrs.NoKey {
		block.Key = addr.Key
	}
	if addr != block {
		return addr, false
	}
	renamed = m.To
	if renamed.Key == stackaddrs.NoKey && m.From.Key == stackaddrs.NoKey {
		renamed.Key = addr.Key
	}
	return renamed, true
}

// MoveResource moves a resource with all its objects, deposed ones included, from one component
// instance to another, or within one if both are the same. The instance that it moves to need not
// have a state. Each object keeps the provider configuration that it was made with.
//
// Errors:
//   - [ErrNoResource]: there is nothing to move.
//   - [*ResourceOccupiedError]: there is something at a new address already.
func MoveResource(from, to *Component, move ResourceMove) (fromAfter, toAfter *Component, renames []ResourceRename, err error) {
	source, err := tfstate.Parse(from.Module)
	if err != nil {
		return nil, nil, nil, err
	}
	var kept, moved []tfstate.Entry
	for _, entry := range source.Entries() {
		renamed, ok := move.rename(entry.Addr)
		if !ok {
			kept = append(kept, entry)
			continue
		}
		if entry.Deposed == "" || len(renames) == 0 || renames[len(renames)-1].From != entry.Addr {
			renames = append(renames, ResourceRename{entry.Addr, renamed})
		}
		moved = append(moved, entry.WithAddr(renamed))
	}
	if len(moved) == 0 {
		return nil, nil, nil, ErrNoResource
	}
	target, there := source, kept
	within := from == to
	if !within {
		if target, err = tfstate.Parse(to.Module); err != nil {
			return nil, nil, nil, err
		}
		there = target.Entries()
	}
	for _, entry := range there {
		for _, rename := range renames {
			if rename.To == entry.Addr {
				return nil, nil, nil, &ResourceOccupiedError{rename}
			}
		}
	}
	toCopy := *to
	if toCopy.Module, err = joinModule(to.Addr, target.Rest(), slices.Concat(there, moved)); err != nil || within {
		return &toCopy, &toCopy, renames, err
	}
	fromCopy := *from
	fromCopy.Module, err = joinModule(from.Addr, source.Rest(), kept)
	return &fromCopy, &toCopy, renames, err
}
