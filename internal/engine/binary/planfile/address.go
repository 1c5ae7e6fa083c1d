// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// parseAddress parses the address of a resource instance. That of a module's output, check or
// variable has the same form, with the keyword for a type. The key [*] stands for all instances,
// before they are known: deferred changes have it.
func parseAddress(text string) (stackaddrs.ResourceInstance, error) {
	addr, err := stackaddrs.ParsePartialResourceInstance(text)
	if err != nil {
		return addr, fmt.Errorf("invalid address: %w", err)
	}
	return addr, nil
}

// compareAddresses gives the order of `show -json`: modules by depth and name, then data sources
// before managed resources, then types, names and keys.
func compareAddresses(a, b stackaddrs.ResourceInstance) int {
	return cmp.Or(
		compareModules(a.Module, b.Module),
		cmp.Compare(b.Resource.Mode, a.Resource.Mode),
		cmp.Compare(a.Resource.Type, b.Resource.Type),
		cmp.Compare(a.Resource.Name, b.Resource.Name),
		compareKeys(a.Key, b.Key),
	)
}

func compareModules(a, b stackaddrs.ModuleInstance) int {
	if a == b {
		return 0
	}
	callsA, callsB := a.Path(), b.Path()
	return cmp.Or(
		cmp.Compare(len(callsA), len(callsB)),
		slices.CompareFunc(callsA, callsB, func(a, b stackaddrs.ModuleCallInstance) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), compareKeys(a.Key, b.Key))
		}),
	)
}

// compareKeys sorts no key first, then that of all instances, then numbers, then strings.
func compareKeys(a, b stackaddrs.InstanceKey) int {
	return cmp.Or(cmp.Compare(keyRank(a), keyRank(b)), a.Compare(b))
}

func keyRank(key stackaddrs.InstanceKey) int {
	switch key {
	case stackaddrs.NoKey:
		return 0
	case stackaddrs.WildcardKey:
		return 1
	default:
		return 2
	}
}
