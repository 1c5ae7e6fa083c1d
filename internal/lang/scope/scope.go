// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package scope makes the variables of an evaluation context for HCL: values by their names, in the
// objects that references lead through.
package scope

import "github.com/zclconf/go-cty/cty"

// Table has values by the names of references. One table is for one expression, or for several that
// see the same names. It is not safe for concurrent use.
type Table map[string]any // of cty.Value or Table

// Set gives the value to a reference, which consists of these names. Where an object on the way has
// a value as a whole, that stays: the reference leads into it.
func (t Table) Set(value cty.Value, path ...string) {
	for _, name := range path[:len(path)-1] {
		switch inside := t[name].(type) {
		case cty.Value:
			return
		case Table:
			t = inside
		default:
			inner := Table{}
			t[name] = inner
			t = inner
		}
	}
	t[path[len(path)-1]] = value
}

// Variables returns the values by the first names of references.
func (t Table) Variables() map[string]cty.Value {
	variables := make(map[string]cty.Value, len(t))
	for name, inside := range t {
		switch inside := inside.(type) {
		case cty.Value:
			variables[name] = inside
		case Table:
			variables[name] = cty.ObjectVal(inside.Variables())
		}
	}
	return variables
}
