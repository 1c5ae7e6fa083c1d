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
	isAny bool // all elements of a list
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
	return s.name, !s.isAny
}

// index returns the index that the step selects in a list.
func (s pathStep) index() (int, bool) {
	if !s.isKey || s.key.kind != kindNumber {
		return 0, false
	}
	i, err := strconv.Atoi(s.key.text)
	return i, err == nil && i >= 0
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

// anyElement returns p with all elements of a list in place of a certain one.
func (p path) anyElement() path {
	out := slices.Clone(p)
	for i, step := range out {
		if step.isKey && step.key.kind == kindNumber {
			out[i] = pathStep{isAny: true}
		}
	}
	return out
}

// markSensitive marks the value at p below n. A path that leads nowhere, because something on it
// is null, unknown or absent, has nothing to hide. The elements of a set can't be told apart, so that a set
// is sensitive as a whole if anything in it is, and so is a list if one can't tell which element is meant.
func (n *node) markSensitive(p path) {
	if len(p) == 0 || n.kind == kindSet {
		n.sensitive = true
		return
	}
	step, rest := p[0], p[1:]
	switch {
	case n.kind == kindMap:
		if name, ok := step.attribute(); ok {
			if i := slices.Index(n.keys, name); i >= 0 {
				n.elems[i].markSensitive(rest)
			}
		}
	case n.kind == kindList && step.isAny:
		for i := range n.elems {
			n.elems[i].markSensitive(rest)
		}
	case n.kind == kindList:
		i, ok := step.index()
		switch {
		case !ok:
			n.sensitive = true
		case i < len(n.elems):
			n.elems[i].markSensitive(rest)
		}
	}
}
