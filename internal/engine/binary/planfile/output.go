// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"
)

func parseOutputChange(f field) (string, *OutputChange, error) {
	var name string
	msg, err := f.message()
	if err != nil {
		return "", nil, err
	}
	out := new(OutputChange)
	c := new(change)
	err = eachField(msg, func(f field) error {
		var err error
		switch f.num {
		case 1:
			return f.setString(&name)
		case 2:
			c, err = parseChange(f)
		case 3:
			return f.setBool(&out.Sensitive)
		}
		return err
	})
	if err == nil {
		out.Action = c.action
		out.Before, err = outputValue(c.before)
	}
	if err == nil {
		out.After, err = outputValue(c.after)
	}
	if err != nil {
		return name, nil, fmt.Errorf("change of output %q: %w", name, err)
	}
	return name, out, nil
}

// outputValue decodes a value that carries its type.
func outputValue(data []byte) (v cty.Value, err error) {
	if data == nil {
		return cty.NullVal(cty.DynamicPseudoType), nil
	}
	// Our own decoder first: it refuses lengths that the data can't hold, for which cty would
	// allocate memory before it notices.
	if _, err := decodeValue(data, place{}); err != nil {
		return cty.NilVal, err
	}
	// cty panics for some values that contradict their type, which only a damaged file has.
	defer func() {
		if r := recover(); r != nil {
			v, err = cty.NilVal, fmt.Errorf("inconsistent value: %v", r)
		}
	}()
	return msgpack.Unmarshal(data, cty.DynamicPseudoType)
}

// parseVariable decodes the value that a variable was given.
func parseVariable(f field) (name string, value cty.Value, err error) {
	msg, err := f.message()
	if err != nil {
		return "", cty.NilVal, err
	}
	value = cty.NullVal(cty.DynamicPseudoType)
	err = eachField(msg, func(f field) error {
		switch f.num {
		case 1:
			return f.setString(&name)
		case 2:
			data, err := f.dynamicValue()
			if err != nil {
				return err
			}
			value, err = outputValue(data)
			return err
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("variable %q: %w", name, err)
	}
	return name, value, err
}
