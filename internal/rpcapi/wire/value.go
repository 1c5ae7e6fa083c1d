// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wire

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/safevalue"
)

// Value returns a value together with its type. [cty.NilVal] is null.
//
// Errors: the value is ephemeral, has a mark of others, or is of a type that cannot be sent.
func Value(v cty.Value) (*stackspb.DynamicValue, error) { return ValueOf(v, cty.DynamicPseudoType) }

// ValueOf is [Value] for a caller that knows the type, which the value has or can be converted to.
func ValueOf(v cty.Value, ty cty.Type) (*stackspb.DynamicValue, error) {
	if v == cty.NilVal {
		v = cty.NullVal(ty)
	}
	bare, sensitive, ephemeral := marks.Split(v)
	if len(ephemeral) > 0 {
		return nil, errors.New("an ephemeral value cannot be sent")
	}
	raw, err := ctymsgpack.Marshal(bare, ty)
	if err != nil {
		return nil, fmt.Errorf("encoding a value: %w", err)
	}
	return &stackspb.DynamicValue{Msgpack: raw, Sensitive: Paths(sensitive)}, nil
}

// Values is [Value] for a map. The result is nil for an empty one.
func Values(values map[string]cty.Value) (map[string]*stackspb.DynamicValue, error) {
	if len(values) == 0 {
		return nil, nil
	}
	messages := make(map[string]*stackspb.DynamicValue, len(values))
	for name, v := range values {
		message, err := Value(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		messages[name] = message
	}
	return messages, nil
}

// Change returns a value before and after, each with its type.
func Change(before, after cty.Value) (*stackspb.DynamicValueChange, error) {
	return ChangeOf(before, after, cty.DynamicPseudoType)
}

// ChangeOf is [Change] for a caller that knows the type of both.
func ChangeOf(before, after cty.Value, ty cty.Type) (*stackspb.DynamicValueChange, error) {
	prior, err := ValueOf(before, ty)
	if err != nil {
		return nil, err
	}
	planned, err := ValueOf(after, ty)
	return &stackspb.DynamicValueChange{Old: prior, New: planned}, err
}

// ParseValue returns the value that a client has sent together with its type. The parts that it
// calls sensitive are marked.
func ParseValue(message *stackspb.DynamicValue) (cty.Value, error) {
	v, err := safevalue.Unmarshal(message.GetMsgpack(), cty.DynamicPseudoType)
	if err != nil {
		return cty.NilVal, fmt.Errorf("decoding a value: %w", err)
	}
	paths, err := ParsePaths(message.GetSensitive())
	if err != nil {
		return cty.NilVal, err
	}
	return marks.MarkPaths(v, marks.Sensitive, paths), nil
}
