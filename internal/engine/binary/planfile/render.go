// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import "encoding/json"

// known returns the value for "before" and "after": unknowns are left out of maps and are null in lists,
// where position is what correlates them with "after_unknown".
func (n *node) known() any {
	switch n.kind {
	case kindBool:
		return n.truth
	case kindNumber:
		return json.Number(n.text)
	case kindString:
		return n.text
	case kindList, kindSet:
		list := make([]any, len(n.elems))
		for i := range n.elems {
			list[i] = n.elems[i].known()
		}
		return list
	case kindMap:
		object := make(map[string]any, len(n.elems))
		for i, key := range n.keys {
			if n.elems[i].kind != kindUnknown {
				object[key] = n.elems[i].known()
			}
		}
		return object
	default:
		return nil
	}
}

// whollyKnown reports whether there is no unknown value in n.
func (n *node) whollyKnown() bool {
	if n.kind == kindUnknown {
		return false
	}
	for i := range n.elems {
		if !n.elems[i].whollyKnown() {
			return false
		}
	}
	return true
}

// unknowns returns the value for "after_unknown": true for what is unknown, false for what is known;
// maps have only what is not false.
func (n *node) unknowns() any {
	return n.flags(func(n *node) bool { return n.kind == kindUnknown })
}

// sensitivity returns the value for "before_sensitive" and "after_sensitive", built like
// after_unknown, except that an unknown collection is empty.
func (n *node) sensitivity() any {
	return n.flags(func(n *node) bool { return n.sensitive })
}

// flags builds a tree of the shape of n, with true for each value that test accepts and all below it.
func (n *node) flags(test func(*node) bool) any {
	if test(n) {
		return true
	}
	shape := n.kind
	if shape == kindUnknown {
		shape = n.unknown
	}
	switch shape {
	case kindList, kindSet:
		list := make([]any, len(n.elems))
		for i := range n.elems {
			list[i] = n.elems[i].flags(test)
		}
		return list
	case kindMap:
		object := make(map[string]any)
		for i, key := range n.keys {
			if flag := n.elems[i].flags(test); flag != false {
				object[key] = flag
			}
		}
		return object
	default:
		return false
	}
}
