// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wire

import (
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// ComponentAddress returns the address of a component as the configuration has it: without keys of
// instances.
func ComponentAddress(addr stackaddrs.AbsComponent) string { return stackaddrs.ConfigOf(addr).String() }

// ComponentInstance returns the addresses of a component instance.
func ComponentInstance(addr stackaddrs.AbsComponentInstance) *stackspb.ComponentInstanceInStackAddr {
	return &stackspb.ComponentInstanceInStackAddr{
		ComponentAddr:         ComponentAddress(stackaddrs.ComponentOf(addr)),
		ComponentInstanceAddr: addr.String(),
	}
}

// ResourceInstance returns the addresses of a resource instance, which is given as it is written in
// its component.
func ResourceInstance(component stackaddrs.AbsComponentInstance, resource string) *stackspb.ResourceInstanceInStackAddr {
	return &stackspb.ResourceInstanceInStackAddr{ComponentInstanceAddr: component.String(), ResourceInstanceAddr: resource}
}

// ResourceObject is [ResourceInstance] for one of its objects.
func ResourceObject(
	component stackaddrs.AbsComponentInstance, resource string, deposed stackaddrs.DeposedKey,
) *stackspb.ResourceInstanceObjectInStackAddr {
	return &stackspb.ResourceInstanceObjectInStackAddr{
		ComponentInstanceAddr: component.String(), ResourceInstanceAddr: resource, DeposedKey: string(deposed),
	}
}

// ActionInvocation returns the addresses of an action instance.
func ActionInvocation(
	component stackaddrs.AbsComponentInstance, action stackaddrs.ActionInstance,
) *stackspb.ActionInvocationInstanceInStackAddr {
	return &stackspb.ActionInvocationInstanceInStackAddr{
		ComponentInstanceAddr:        component.String(),
		ActionInvocationInstanceAddr: action.String(),
	}
}

// ResourceMode returns the mode of a resource; that of ephemeral ones is not known.
func ResourceMode(mode stackaddrs.ResourceMode) stackspb.ResourceMode {
	switch mode {
	case stackaddrs.ManagedResource:
		return stackspb.ResourceMode_MANAGED
	case stackaddrs.DataResource:
		return stackspb.ResourceMode_DATA
	default:
		return stackspb.ResourceMode_UNKNOWN
	}
}

// ProviderAddress returns the address of a provider, empty if it is not known.
func ProviderAddress(provider stackaddrs.Provider) string {
	if provider == (stackaddrs.Provider{}) {
		return ""
	}
	return provider.String()
}
