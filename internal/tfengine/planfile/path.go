// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"
)

// pathStep is one step into a value: an attribute's name, or the key of an element.
type pathStep struct {
	name  string
	key   node // for steps into collections; a set's key is the element itself
	isKey bool
}

type path []pathStep

// parsePath decodes a Path message.
func parsePath(f field) (path, error) {
	msg, err := f.message()
	if err != nil {
		return nil, err
	}
	var p path
	err = eachField(msg, func(f field) error {
		if f.num != 1 {
			return nil
		}
		msg, err := f.message()
		if err != nil {
			return err
		}
		step, err := parsePathStep(msg)
		p = append(p, step)
		return err
	})
	return p, err
}

func parsePathStep(msg []byte) (pathStep, error) {
	var step pathStep
	var found bool
	err := eachField(msg, func(f field) error {
		switch f.num {
		case 1:
			step, found = pathStep{}, true
			return f.setString(&step.name)
		case 2:
			value, err := f.dynamicValue()
			if err != nil {
				return err
			}
			step, found = pathStep{isKey: true}, true
			step.key, err = decodeValue(value, cty.DynamicPseudoType)
			return err
		}
		return nil
	})
	if err == nil && !found {
		err = errors.New("unknown kind of path step")
	}
	return step, err
}

func (f field) appendPath(dst *[]path) error {
	p, err := parsePath(f)
	if err == nil {
		*dst = append(*dst, p)
	}
	return err
}

// attribute returns the name that the step selects in a map or object.
func (s pathStep) attribute() (string, bool) {
	if s.isKey {
		return s.key.text, s.key.kind == kindString
	}
	return s.name, true
}

// json returns the step as "replace_paths" and "relevant_attributes" spell it.
func (s pathStep) json() any {
	if s.isKey {
		return s.key.known()
	}
	return s.name
}

func (p path) json() []any {
	out := make([]any, len(p))
	for i, step := range p {
		out[i] = step.json()
	}
	return out
}

func (p path) rawJSON() ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(p))
	for i, step := range p.json() {
		raw, err := json.Marshal(step)
		if err != nil {
			return nil, err
		}
		out[i] = raw
	}
	return out, nil
}

// markSensitive marks the value at p below n. A path that leads nowhere, because something on it
// is null, unknown or absent, has nothing to hide. Where one can't tell which element of a
// list or set is meant, all of them are marked.
func (n *node) markSensitive(p path) {
	if len(p) == 0 {
		n.sensitive = true
		return
	}
	step, rest := p[0], p[1:]
	switch n.kind {
	case kindMap:
		if name, ok := step.attribute(); ok {
			if i := slices.Index(n.keys, name); i >= 0 {
				n.elems[i].markSensitive(rest)
			}
		}
	case kindList, kindSet:
		if i := n.elementIndex(step); i >= 0 {
			n.elems[i].markSensitive(rest)
			return
		}
		for i := range n.elems {
			n.elems[i].sensitive = true
		}
	}
}

// elementIndex returns the index of the element of a list or set that step selects, or -1.
func (n *node) elementIndex(step pathStep) int {
	if step.isKey && step.key.kind == kindNumber && n.kind == kindList {
		if i, err := strconv.Atoi(step.key.text); err == nil && i >= 0 && i < len(n.elems) {
			return i
		}
	}
	if !step.isKey {
		return -1
	}
	return slices.IndexFunc(n.elems, step.key.equal)
}

// equal reports whether a and b are the same value, whatever their exact types and marks.
func (n *node) equal(o node) bool {
	if n.kind == kindSet || o.kind == kindSet {
		// A set may be known as such on one side only.
		return (n.kind == kindList || n.kind == kindSet) && (o.kind == kindList || o.kind == kindSet) && n.equalElems(o)
	}
	return n.kind == o.kind && n.text == o.text && n.truth == o.truth &&
		slices.Equal(n.keys, o.keys) && n.equalElems(o)
}

func (n *node) equalElems(o node) bool {
	return slices.EqualFunc(n.elems, o.elems, func(a, b node) bool { return a.equal(b) })
}
