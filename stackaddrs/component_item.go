// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import "cmp"

// InComponent is the configuration address of an item inside a component.
type InComponent[T item[T]] struct {
	Component ConfigComponent
	Item      T
}

// InComponentInstance is the absolute address of an item inside a component instance.
type InComponentInstance[T item[T]] struct {
	Component AbsComponentInstance
	Item      T
}

type (
	ConfigComponentModule   = InComponent[Module]
	ConfigComponentResource = InComponent[ConfigResource]

	AbsComponentModuleInstance = InComponentInstance[ModuleInstance]
	AbsResourceInstance        = InComponentInstance[ResourceInstance]
	AbsResourceInstanceObject  = InComponentInstance[ResourceInstanceObject]
	AbsActionInstance          = InComponentInstance[ActionInstance]
)

// Compare orders by component, then by the address inside it, rule A4.
func (a InComponent[T]) Compare(b InComponent[T]) int {
	return cmp.Or(a.Component.Compare(b.Component), a.Item.Compare(b.Item))
}

// String returns the address of the component followed by the address inside
// it, which is empty for the root module.
func (a InComponent[T]) String() string { return joinItem(a.Component.String(), a.Item.String()) }

// Compare orders by component instance, then by the address inside it, rule A4.
func (a InComponentInstance[T]) Compare(b InComponentInstance[T]) int {
	return cmp.Or(a.Component.Compare(b.Component), a.Item.Compare(b.Item))
}

// String returns the address of the component instance followed by the address
// inside it, which is empty for the root module.
func (a InComponentInstance[T]) String() string {
	return joinItem(a.Component.String(), a.Item.String())
}

func joinItem(component, item string) string {
	if item == "" {
		return component
	}
	return component + "." + item
}

// ConfigComponentOf drops all keys from the address of a component instance.
func ConfigComponentOf(a AbsComponentInstance) ConfigComponent {
	return ConfigOf(ComponentOf(a))
}
