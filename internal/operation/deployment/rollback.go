// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Rollback returns a state to its contents at the end of a serial.
type Rollback struct {
	Serial int64

	Loses   []string // addresses of objects that are not managed any more then, though they may exist
	Regains []string // of those that are in the state again, though they may not exist

	Records map[string][]byte // to be written
}

// RollBack returns the consequences of making the state that of a serial.
func (t *Stored) RollBack(ctx context.Context, serial int64) (Rollback, error) {
	state, records, err := t.readSerial(ctx, serial)
	if err != nil {
		return Rollback{}, err
	}
	loses, regains, err := compareObjects(t.State, state)
	return Rollback{serial, loses, regains, statestore.Changes(t.Records, records)}, err
}

// Operation is its name in the history, with its losses, which are not to be seen there otherwise.
func (r Rollback) Operation() string {
	text := fmt.Sprintf("state rollback to %d", r.Serial)
	switch n := len(r.Loses); n {
	case 0:
		return text
	case 1:
		return text + ", 1 object unmanaged"
	default:
		return fmt.Sprintf("%s, %d objects unmanaged", text, n)
	}
}

// managedObject is an object that exists, as far as two states can tell whether it is the same in
// both: by its identifier, or without one by its address.
type managedObject struct{ resourceType, identity string }

// compareObjects lists the addresses of the objects that one state has and the other has not, in
// the order of the states.
func compareObjects(before, after *stackstate.State) (onlyBefore, onlyAfter []string, err error) {
	had, err := managedObjects(before)
	if err != nil {
		return nil, nil, err
	}
	has, err := managedObjects(after)
	if err != nil {
		return nil, nil, err
	}
	return had.without(has), has.without(had), nil
}

// objectList are the managed objects of a state with their addresses, in their order.
type objectList struct {
	addresses []string
	objects   []managedObject
}

func (l objectList) without(other objectList) []string {
	there := make(map[managedObject]int, len(other.objects)) // some providers give equal objects one identifier
	for _, object := range other.objects {
		there[object]++
	}
	var addresses []string
	for i, object := range l.objects {
		if there[object]--; there[object] < 0 {
			addresses = append(addresses, l.addresses[i])
		}
	}
	return addresses
}

func managedObjects(state *stackstate.State) (objectList, error) {
	var list objectList
	for _, component := range state.SortedComponents() {
		objects, err := tfstate.ParseObjects(component.Module)
		if err != nil {
			return list, failure.Error("Unreadable state", "The state of %s cannot be understood: %s.", component.Addr, err)
		}
		for _, object := range objects {
			if object.Addr.Resource.Mode != stackaddrs.ManagedResource {
				continue
			}
			address := object.In(component.Addr).String()
			list.addresses = append(list.addresses, address)
			list.objects = append(list.objects, managedObject{object.ProviderName() + " " + object.Addr.Resource.Type, identityOf(object, address)})
		}
	}
	return list, nil
}

func identityOf(object tfstate.Object, address string) string {
	var attributes struct {
		ID any `json:"id"`
	}
	if err := json.Unmarshal(object.Attributes, &attributes); err != nil || attributes.ID == nil || attributes.ID == "" {
		return "at " + address
	}
	return fmt.Sprint("id ", attributes.ID)
}
