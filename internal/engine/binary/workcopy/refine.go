// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"errors"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// final returns the latch's value for a leaf.
func (l Leaf) final(input cty.Value) (cty.Value, error) {
	if input == cty.NilVal {
		return cty.NilVal, errors.New("no value")
	}
	input, _ = input.UnmarkDeep()
	value, err := l.Path.Apply(input)
	if err != nil {
		return cty.NilVal, errors.New("its structure is not the planned one")
	}
	switch {
	case !value.IsWhollyKnown():
		return cty.NilVal, errors.New("it is still not known")
	case value.IsNull() && l.NotNull:
		return cty.NilVal, errors.New("it is null, which the plan rules out")
	}
	if l.Prefix != "" {
		rest, ok := strings.CutPrefix(value.AsString(), l.Prefix)
		if !ok {
			return cty.NilVal, errors.New("it doesn't start as the plan says")
		}
		value = cty.StringVal(rest)
	}
	return value, nil
}
