// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

func stateCommand() *command {
	return group(&command{
		name:    "state",
		summary: "Looks at the state, and changes it by hand.",
		example: "cairn state list\ncairn state history",
	},
		stateListCommand(), stateShowCommand(), statePullCommand(), statePushCommand(), stateMoveCommand(), stateRemoveCommand(),
		stateHistoryCommand(), stateRollbackCommand(), stateExportCommand(), stateImportCommand(), stateUnlockCommand(),
	)
}

// stateTarget is what an address in the state refers to: a component instance, or a resource instance in it.
type stateTarget struct {
	component *stackstate.Component
	resource  string // as terraform has it; "" for the whole component
}

// find returns what an address refers to.
func (t *storedState) find(address string) (stateTarget, error) {
	addr, resource, err := parseStateAddress(address)
	if err != nil {
		return stateTarget{}, err
	}
	component := t.State.Components[addr]
	if component == nil {
		names := make([]string, 0, len(t.State.Components))
		for known := range t.State.Components {
			names = append(names, known.String())
		}
		if instances := t.instances(stackaddrs.ComponentOf(addr)); len(instances) > 0 {
			return stateTarget{}, fail("Not in the state", "The state has no %s, but these instances of it: %s. Give the address of one, in single quotes for the shell.",
				addr, strings.Join(instances, ", "))
		}
		return stateTarget{}, fail("Not in the state", "The state has no %s.%s \"cairn state list\" shows what it has.",
			addr, didYouMean(addr.String(), names, ""))
	}
	target := stateTarget{component, resource}
	if resource == "" {
		return target, nil
	}
	all, err := stackstate.Objects(component.Module)
	if err != nil {
		return target, err
	}
	names := make([]string, len(all))
	for i, object := range all {
		names[i] = object.Addr.String()
	}
	if !slices.Contains(names, resource) {
		return target, fail("Not in the state", "The state of %s has no %s.%s \"cairn state list\" shows what it has.",
			addr, resource, didYouMean(resource, names, addr.String()+"."))
	}
	return target, nil
}

// places returns the addresses of all component instances, of the components, and of the stack instances around them.
func (t *storedState) places() []string {
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
func (t *storedState) instances(of stackaddrs.AbsComponent) []string {
	var addresses []string
	for _, component := range t.State.SortedComponents() {
		if stackaddrs.ComponentOf(component.Addr) == of {
			addresses = append(addresses, component.Addr.String())
		}
	}
	return addresses
}

// objects returns the objects of a resource instance: the current one, and those deposed.
func (t stateTarget) objects() ([]stackstate.Object, error) {
	all, err := stackstate.Objects(t.component.Module)
	if err != nil {
		return nil, err
	}
	var objects []stackstate.Object
	for _, object := range all {
		if object.Addr.String() == t.resource {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

func parseStateAddress(address string) (addr stackaddrs.AbsComponentInstance, resource string, err error) {
	addr, rest, err := stackaddrs.ParseAbsComponentInstancePrefix(address)
	if err != nil {
		return addr, "", fail("Wrong address", "The address must be that of a component instance, like component.x or stack.a.component.x[\"y\"], "+
			"or of a resource instance in one, like component.x.aws_instance.y[0]; %q is neither.", address)
	}
	if rest == "" {
		return addr, "", nil
	}
	instance, err := stackaddrs.ParseAbsResourceInstance(address)
	if err != nil {
		return addr, "", fail("Wrong address", "What follows the component in %q is not the address of a resource instance.", address)
	}
	return addr, instance.Item.String(), nil
}

func stateListCommand() *command {
	return &command{
		name:    "list",
		args:    "[ADDRESS]",
		summary: "Lists components and their resources.",
		long:    "With an address, only that component or that stack instance.",
		example: "cairn state list\ncairn state list component.network",
		maxArgs: 1,
		flags:   (*flagSet).stateFlags,
		run: func(ctx context.Context, s *session, args []string) (int, error) {
			stored, err := s.readState(ctx)
			if err != nil {
				return 0, err
			}
			within := func(stackaddrs.AbsComponentInstance) bool { return true }
			if len(args) == 1 {
				if within, err = stored.filter(args[0]); err != nil {
					return 0, err
				}
				if !slices.ContainsFunc(slices.Collect(maps.Keys(stored.State.Components)), within) {
					return 0, fail("Not in the state", "The state has nothing at %s.%s", args[0], didYouMean(args[0], stored.places(), ""))
				}
			}
			return exitOK, s.listState(stored, within)
		},
	}
}

func (s *session) listState(stored *storedState, within func(stackaddrs.AbsComponentInstance) bool) error {
	var b strings.Builder
	for _, component := range stored.State.SortedComponents() {
		if !within(component.Addr) {
			continue
		}
		b.WriteString(component.Addr.String() + "\n")
		objects, err := stackstate.Objects(component.Module)
		if err != nil {
			return err
		}
		for _, object := range objects {
			line := component.Addr.String() + "." + object.Addr.String()
			if object.Deposed != "" {
				line += " (deposed object " + string(object.Deposed) + ")"
			}
			b.WriteString(line + "\n")
		}
	}
	s.stdout("%s", b.String())
	return nil
}

// filter returns a test for what is at or below an address of a stack instance, a component or an instance of one.
func (t *storedState) filter(address string) (func(stackaddrs.AbsComponentInstance) bool, error) {
	if stack, err := stackaddrs.ParseStackInstance(address); err == nil {
		return func(addr stackaddrs.AbsComponentInstance) bool { return stack.Contains(addr.Stack) }, nil
	}
	if component, err := stackaddrs.ParseAbsComponent(address); err == nil {
		return func(addr stackaddrs.AbsComponentInstance) bool { return stackaddrs.ComponentOf(addr) == component }, nil
	}
	target, err := t.find(address)
	if err != nil {
		return nil, err
	}
	if target.resource != "" {
		return nil, fail("Wrong address", "Give the address of a component or a stack instance; one resource is shown by: cairn state show %q", address)
	}
	return func(addr stackaddrs.AbsComponentInstance) bool { return addr == target.component.Addr }, nil
}
