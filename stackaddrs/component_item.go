// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import "cmp"

// InComponentInstance is the absolute address of an item inside a component instance.
type InComponentInstance[T item[T]] struct {
	Component AbsComponentInstance
	Item      T
}

type (
	AbsResourceInstance       = InComponentInstance[ResourceInstance]
	AbsActionInstance         = InComponentInstance[ActionInstance]
	AbsResourceInstanceObject = InComponentInstance[ResourceInstanceObject]
)

// Compare orders by component instance, then by the address inside it, rule A4.
func (a InComponentInstance[T]) Compare(b InComponentInstance[T]) int {
	return cmp.Or(a.Component.Compare(b.Component), a.Item.Compare(b.Item))
}

// String returns the address of the component instance followed by the address inside it.
func (a InComponentInstance[T]) String() string { return a.Component.String() + "." + a.Item.String() }

// ConfigComponentOf drops all keys from the address of a component instance.
func ConfigComponentOf(a AbsComponentInstance) ConfigComponent {
	return ConfigOf(ComponentOf(a))
}
