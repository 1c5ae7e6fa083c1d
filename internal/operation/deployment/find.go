// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Target is the target of an address in the state: a component instance, or a resource instance in
// it.
type Target struct {
	Component *stackstate.Component
	Resource  string // as terraform has it; "" for the whole component
}

// Find returns the target of an address.
func (t *Stored) Find(address string) (Target, error) {
	addr, resource, err := ParseAddress(address)
	if err != nil {
		return Target{}, err
	}
	component := t.State.Components[addr]
	if component == nil {
		names := make([]string, 0, len(t.State.Components))
		for known := range t.State.Components {
			names = append(names, known.String())
		}
		if instances := t.instances(stackaddrs.ComponentOf(addr)); len(instances) > 0 {
			return Target{}, failure.Error("Object not in the state", "The state has no %s, but these instances of it: %s. Give the address of "+
				"one, in single quotes for the shell.",
				addr, strings.Join(instances, ", "))
		}
		return Target{}, notInState("The state has no %s.%s",
			addr, nearest.DidYouMean(addr.String(), names))
	}
	target := Target{component, resource}
	if resource == "" {
		return target, nil
	}
	all, err := tfstate.ParseObjects(component.Module)
	if err != nil {
		return target, err
	}
	names := make([]string, len(all))
	for i, object := range all {
		names[i] = object.Addr.String()
	}
	if !slices.Contains(names, resource) {
		return target, notInState("The state of %s has no %s.%s",
			addr, resource, nearest.DidYouMeanBelow(addr.String()+".", resource, names))
	}
	return target, nil
}

func notInState(detail string, args ...any) error {
	return hcl.Diagnostics{failure.With(CodeNotInState, failure.New("Object not in the state", detail, args...))}
}

// places returns the addresses of all component instances, of the components, and of the stack
// instances around them.
func (t *Stored) places() []string {
	places := map[string]bool{}
	for addr := range t.State.Components {
		places[addr.String()] = true
		places[stackaddrs.ComponentOf(addr).String()] = true
		for stack := addr.Stack; !stack.IsRoot(); {
			places[stack.String()] = true
			stack, _, _ = stack.Parent()
		}
	}
	return slices.Collect(maps.Keys(places))
}

// instances returns the addresses of the instances of a component, sorted.
func (t *Stored) instances(of stackaddrs.AbsComponent) []string {
	var addresses []string
	for _, component := range t.State.SortedComponents() {
		if stackaddrs.ComponentOf(component.Addr) == of {
			addresses = append(addresses, component.Addr.String())
		}
	}
	return addresses
}

// Objects returns the objects of a resource instance, the current one and those deposed, or all of
// a component instance.
func (t Target) Objects() ([]tfstate.Object, error) {
	all, err := tfstate.ParseObjects(t.Component.Module)
	if err != nil || t.Resource == "" {
		return all, err
	}
	var objects []tfstate.Object
	for _, object := range all {
		if object.Addr.String() == t.Resource {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// ParseAddress splits the address of a component instance, or of a resource instance in one.
func ParseAddress(address string) (addr stackaddrs.AbsComponentInstance, resource string, err error) {
	addr, rest, err := stackaddrs.ParseAbsComponentInstancePrefix(address)
	if err != nil {
		hint := ""
		if strings.Contains(address, "[") && !strings.Contains(address, `"`) {
			hint = " Shells take away quotes: put the whole address into single ones."
		}
		return addr, "", failure.Error("Invalid address", "The address must be that of a component instance, like component.x or "+
			"stack.a.component.x[\"y\"], or of a resource instance in one, like component.x.aws_instance.y[0]; %q is neither.%s", address, hint)
	}
	if rest == "" {
		return addr, "", nil
	}
	instance, err := stackaddrs.ParseAbsResourceInstance(address)
	if err != nil {
		return addr, "", failure.Error("Invalid address", "The part after the component in %q is not the address of a resource "+
			"instance.", address)
	}
	return addr, instance.Item.String(), nil
}

// filter returns a test for component instances at or below an address of a stack instance, a
// component or an instance of one.
func (t *Stored) filter(address string) (func(stackaddrs.AbsComponentInstance) bool, error) {
	if stack, err := stackaddrs.ParseStackInstance(address); err == nil {
		return func(addr stackaddrs.AbsComponentInstance) bool { return stack.Contains(addr.Stack) }, nil
	}
	if component, err := stackaddrs.ParseAbsComponent(address); err == nil {
		return func(addr stackaddrs.AbsComponentInstance) bool { return stackaddrs.ComponentOf(addr) == component }, nil
	}
	target, err := t.Find(address)
	if err != nil {
		return nil, err
	}
	if target.Resource != "" {
		return nil, failure.Error("Invalid address", "Give the address of a component or a stack instance; %q is one resource.", address)
	}
	return func(addr stackaddrs.AbsComponentInstance) bool { return addr == target.Component.Addr }, nil
}
