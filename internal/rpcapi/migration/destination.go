// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package migration

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// destination is where an object goes.
type destination struct {
	component stackaddrs.AbsComponentInstance
	resource  stackaddrs.ResourceInstance
}

// destination returns where the objects of a resource instance go.
func (m *migrator) destination(from stackaddrs.ResourceInstance) (destination, *hcl.Diagnostic) {
	if written, ok := m.Resources[from.String()]; ok {
		return m.ofResource(from, written)
	}
	path := from.Module.Path()
	if len(path) == 0 {
		return destination{}, failure.New("Resource not mapped",
			"The state has %s, and nothing says to which component it goes. Name it among the resources.", from)
	}
	written, ok := m.ModuleCalls[path[0].Name]
	if !ok {
		return destination{}, failure.New("Module not mapped",
			"The state has %s, and nothing says to which component it goes. Name it among the resources, or module %q among the modules.",
			from, path[0].Name)
	}
	component := strings.TrimPrefix(written, "component.")
	addr, err := stackaddrs.ParseAbsComponentInstance("component." + component)
	if err != nil || addr.Item.Component.Name != component {
		return destination{}, failure.New("Invalid target component",
			"The objects of module %q go to %q, which is not the name of a component of the root stack.",
			path[0].Name, written)
	}
	addr.Item.Key = path[0].Key
	to := destination{component: addr, resource: from}
	to.resource.Module = stackaddrs.ModuleInstance{}
	for _, call := range path[1:] {
		to.resource.Module = to.resource.Module.Child(call.Name, call.Key)
	}
	return to, nil
}

// ofResource reads the target of a resource instance.
func (m *migrator) ofResource(from stackaddrs.ResourceInstance, written string) (destination, *hcl.Diagnostic) {
	component, rest, err := stackaddrs.ParseAbsComponentInstancePrefix(written)
	switch {
	case err != nil:
		return destination{}, failure.New("Invalid target component",
			"%s goes to %q, which does not begin with the address of a component instance: %s.", from, written, err)
	case !component.Stack.IsRoot():
		return destination{}, failure.New("Invalid target component",
			"%s goes to %s. Only components of the root stack can take objects.", from, component)
	case rest == "":
		return destination{component, from}, nil
	}
	resource, err := stackaddrs.ParseResourceInstance(rest)
	if err != nil {
		return destination{}, failure.New("Invalid target resource", "%s goes to %q, where %q is not the address of a resource instance: %s.",
			from, written, rest, err)
	}
	if resource.Resource.Mode != from.Resource.Mode || resource.Resource.Type != from.Resource.Type {
		return destination{}, failure.New("Invalid target resource", "%s goes to %q, which is not of the same type.", from, written)
	}
	return destination{component, resource}, nil
}
