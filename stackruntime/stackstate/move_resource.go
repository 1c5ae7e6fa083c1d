// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// ResourceMove gives a resource another address, in its component or in another one. As with [stackaddrs.Move], addresses
// without a key mean all instances of the resource.
type ResourceMove struct{ From, To stackaddrs.ResourceInstance }

// ResourceRename is a resource instance that gets another address.
type ResourceRename struct{ From, To stackaddrs.ResourceInstance }

// ErrNoResource is the error for a resource that the state does not have.
var ErrNoResource = errors.New("the resource is not in the state")

// ResourceOccupiedError is the error for a resource instance that cannot get an address because another one has it.
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

// MoveResource moves a resource with all its objects, deposed ones included, from one component instance to another, or
// within one if both are the same. The instance that it moves to need not have a state. Each object keeps the provider
// configuration that it was made with.
//
// Errors:
//   - [ErrNoResource]: there is nothing to move.
//   - [*ResourceOccupiedError]: there is something at a new address already.
func MoveResource(from, to *Component, move ResourceMove) (fromAfter, toAfter *Component, renames []ResourceRename, err error) {
	rest, objects, err := splitModule(from.Module)
	if err != nil {
		return nil, nil, nil, err
	}
	var kept, moved []object
	for _, o := range objects {
		renamed, ok := move.rename(o.addr)
		if !ok {
			kept = append(kept, o)
			continue
		}
		if o.deposed == "" || len(renames) == 0 || renames[len(renames)-1].From != o.addr {
			renames = append(renames, ResourceRename{o.addr, renamed})
		}
		if o, err = o.at(renamed); err != nil {
			return nil, nil, nil, err
		}
		moved = append(moved, o)
	}
	if len(moved) == 0 {
		return nil, nil, nil, ErrNoResource
	}
	within := from == to
	toRest, there := rest, kept
	if !within {
		if toRest, there, err = splitModule(to.Module); err != nil {
			return nil, nil, nil, err
		}
	}
	for _, o := range there {
		for _, rename := range renames {
			if rename.To == o.addr {
				return nil, nil, nil, &ResourceOccupiedError{rename}
			}
		}
	}
	toCopy := *to
	if toCopy.Module, err = joinModule(to.Addr, toRest, append(there, moved...)); err != nil || within {
		return &toCopy, &toCopy, renames, err
	}
	fromCopy := *from
	fromCopy.Module, err = joinModule(from.Addr, rest, kept)
	return &fromCopy, &toCopy, renames, err
}

// at returns the object with another address.
func (o object) at(addr stackaddrs.ResourceInstance) (object, error) {
	resource, err := withMembers(o.resource, map[string]any{
		"module": optional(addr.Module.String()), "mode": addr.Resource.Mode.String(), "type": addr.Resource.Type, "name": addr.Resource.Name,
	})
	if err != nil {
		return o, err
	}
	instance, err := withMembers(o.instance, map[string]any{"index_key": addr.Key.Index()})
	return object{addr: addr, deposed: o.deposed, resource: resource, instance: instance}, err
}

// optional is nil for a member that is left out where it is empty.
func optional(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// withMembers sets members of a JSON object. Nil removes one.
func withMembers(object json.RawMessage, values map[string]any) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	for name, value := range values {
		if value == nil {
			delete(members, name)
			continue
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		members[name] = encoded
	}
	return encodeObject(members)
}
