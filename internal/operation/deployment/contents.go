// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"fmt"
	"slices"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Contents are objects of a component instance in the state, all or some.
type Contents struct {
	Addr    stackaddrs.AbsComponentInstance
	Objects []tfstate.Object // in the order of the state
}

// Contents returns the contents of the state at or below the address of a stack instance, a
// component or an instance of one, sorted by component. The empty address is that of the whole
// stack.
func (t *Stored) Contents(address string) ([]Contents, error) {
	within := func(stackaddrs.AbsComponentInstance) bool { return true }
	if address != "" {
		var err error
		if within, err = t.filter(address); err != nil {
			return nil, err
		}
	}
	var all []Contents
	for _, component := range t.State.SortedComponents() {
		if !within(component.Addr) {
			continue
		}
		objects, err := tfstate.ParseObjects(component.Module)
		if err != nil {
			return nil, err
		}
		all = append(all, Contents{component.Addr, objects})
	}
	if len(all) == 0 && address != "" {
		return nil, failure.Error("Object not in the state", "The state has nothing at %s.%s", address, nearest.DidYouMean(address, t.places()))
	}
	return all, nil
}

// Remove returns the records that forget a component instance or a resource instance, and the
// objects that are no longer managed then.
func (t *Stored) Remove(address string) (map[string][]byte, Contents, error) {
	target, err := t.Find(address)
	if err != nil {
		return nil, Contents{}, err
	}
	objects, err := target.Objects()
	if err != nil {
		return nil, Contents{}, err
	}
	var after *stackstate.Component
	if target.Resource != "" {
		rest := *target.Component
		if rest.Module, err = withoutResource(rest.Module, target.Resource); err != nil {
			return nil, Contents{}, err
		}
		after = &rest
	}
	records, err := stackstate.ComponentRecords(target.Component, after)
	return records, Contents{target.Component.Addr, objects}, err
}

// withoutResource removes all objects of a resource instance from the state of a module.
func withoutResource(state engine.State, address string) (engine.State, error) {
	document, err := tfstate.Parse(state)
	if err == nil {
		document, err = document.WithEntries(slices.DeleteFunc(slices.Clone(document.Entries()), func(entry tfstate.Entry) bool {
			return entry.Addr.String() == address
		}))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the state of a module: %w", err)
	}
	return document.Bytes(), nil
}
