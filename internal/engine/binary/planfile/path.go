// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"errors"
	"math/big"

	"github.com/zclconf/go-cty/cty"
)

// parsePath decodes a Path message.
func parsePath(f field) (cty.Path, error) {
	msg, err := f.message()
	if err != nil {
		return nil, err
	}
	var p cty.Path
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

func parsePathStep(msg []byte) (cty.PathStep, error) {
	var step cty.PathStep
	err := eachField(msg, func(f field) error {
		switch f.num {
		case 1:
			var name string
			if err := f.setString(&name); err != nil {
				return err
			}
			step = cty.GetAttrStep{Name: name}
		case 2:
			value, err := f.dynamicValue()
			if err != nil {
				return err
			}
			key, err := decodeValue(value, place{ty: cty.DynamicPseudoType})
			step = cty.IndexStep{Key: key}
			return err
		}
		return nil
	})
	if err == nil && step == nil {
		err = errors.New("unknown kind of path step")
	}
	return step, err
}

func (f field) appendPath(dst *[]cty.Path) error {
	p, err := parsePath(f)
	if err == nil {
		*dst = append(*dst, p)
	}
	return err
}

// anyIndex is the key of a step that stands for all elements of a list.
var anyIndex = cty.UnknownVal(cty.Number)

// anyElement returns p with all elements of a list in place of a certain one.
func anyElement(p cty.Path) cty.Path {
	out := p.Copy()
	for i, step := range out {
		if index, ok := step.(cty.IndexStep); ok && index.Key.Type() == cty.Number {
			out[i] = cty.IndexStep{Key: anyIndex}
		}
	}
	return out
}

// selects reports whether a step leads to the attribute of an object, or the element of a map, with
// this name.
func selects(step cty.PathStep, name string) bool {
	switch step := step.(type) {
	case cty.GetAttrStep:
		return step.Name == name
	case cty.IndexStep:
		key := step.Key
		return key.Type() == cty.String && key.IsKnown() && !key.IsNull() && key.AsString() == name
	}
	return false
}

// selectsIndex reports whether a step leads to the element of a list with this index. ok is false
// for one that leads to none for certain.
func selectsIndex(step cty.PathStep, i int) (selects, ok bool) {
	index, ok := step.(cty.IndexStep)
	if !ok || index.Key.Type() != cty.Number || index.Key.IsNull() {
		return false, false
	}
	if !index.Key.IsKnown() {
		return true, true
	}
	n, accuracy := index.Key.AsBigFloat().Int64()
	return n == int64(i), accuracy == big.Exact && n >= 0
}
