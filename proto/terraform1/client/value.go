// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"fmt"
	"math/big"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// Value is a value with the paths of its sensitive parts.
type Value struct {
	Value     cty.Value  // has no marks
	Sensitive []cty.Path // an empty path stands for the whole value
}

// EncodeValue returns the message of a value, which has its type in itself. Inputs are such values.
//
// Errors: the value has marks, or a type that cannot be sent.
func EncodeValue(v Value) (*stackspb.DynamicValue, error) {
	encoded, err := ctymsgpack.Marshal(v.Value, cty.DynamicPseudoType)
	if err != nil {
		return nil, fmt.Errorf("encoding a value: %w", err)
	}
	message := &stackspb.DynamicValue{Msgpack: encoded}
	for _, path := range v.Sensitive {
		message.Sensitive = append(message.Sensitive, encodePath(path))
	}
	return message, nil
}

// DecodeValue returns the value of a message that has its type in itself, such as that of an
// output, an input variable or an expression.
func DecodeValue(message *stackspb.DynamicValue) (Value, error) {
	return DecodeValueOf(message, cty.DynamicPseudoType)
}

// DecodeValueOf returns the value of a message that has been encoded for a type, such as that of a
// resource. The type is that of its schema.
func DecodeValueOf(message *stackspb.DynamicValue, ty cty.Type) (Value, error) {
	value, err := ctymsgpack.Unmarshal(message.GetMsgpack(), ty)
	if err != nil {
		return Value{}, fmt.Errorf("decoding a value: %w", err)
	}
	decoded := Value{Value: value}
	for _, path := range message.GetSensitive() {
		decoded.Sensitive = append(decoded.Sensitive, decodePath(path))
	}
	return decoded, nil
}

// encodePath stops before a step that cannot be sent, such as to an element of a set: the value
// around that is sensitive then.
func encodePath(path cty.Path) *stackspb.AttributePath {
	message := &stackspb.AttributePath{}
	for _, step := range path {
		encoded := encodeStep(step)
		if encoded == nil {
			break
		}
		message.Steps = append(message.Steps, encoded)
	}
	return message
}

// encodeStep returns nil for a step that cannot be sent.
func encodeStep(step cty.PathStep) *stackspb.AttributePath_Step {
	switch step := step.(type) {
	case cty.GetAttrStep:
		return &stackspb.AttributePath_Step{Selector: &stackspb.AttributePath_Step_AttributeName{AttributeName: step.Name}}
	case cty.IndexStep:
		if !step.Key.IsKnown() || step.Key.IsNull() {
			return nil
		}
		switch step.Key.Type() {
		case cty.String:
			return &stackspb.AttributePath_Step{Selector: &stackspb.AttributePath_Step_ElementKeyString{ElementKeyString: step.Key.AsString()}}
		case cty.Number:
			if index, accuracy := step.Key.AsBigFloat().Int64(); accuracy == big.Exact {
				return &stackspb.AttributePath_Step{Selector: &stackspb.AttributePath_Step_ElementKeyInt{ElementKeyInt: index}}
			}
		}
	}
	return nil
}

// decodePath stops before a step that it does not know.
func decodePath(message *stackspb.AttributePath) cty.Path {
	path := cty.Path{}
	for _, step := range message.GetSteps() {
		switch selector := step.GetSelector().(type) {
		case *stackspb.AttributePath_Step_AttributeName:
			path = path.GetAttr(selector.AttributeName)
		case *stackspb.AttributePath_Step_ElementKeyString:
			path = path.IndexString(selector.ElementKeyString)
		case *stackspb.AttributePath_Step_ElementKeyInt:
			path = path.Index(cty.NumberIntVal(selector.ElementKeyInt))
		default:
			return path
		}
	}
	return path
}

// Input is the value of an input variable of a stack.
type Input struct {
	Value Value

	// Source is where the value comes from, for diagnostics about it. The zero value stands for
	// nothing that could be shown.
	Source Range
}

func encodeInputs(inputs map[string]Input) (map[string]*stackspb.DynamicValueWithSource, error) {
	encoded := make(map[string]*stackspb.DynamicValueWithSource, len(inputs))
	for name, input := range inputs {
		value, err := EncodeValue(input.Value)
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", name, err)
		}
		source := input.Source
		if source == (Range{}) {
			source = Range{Source: "<var." + name + ">", Start: Pos{Line: 1, Column: 1}, End: Pos{Line: 1, Column: 1}}
		}
		encoded[name] = &stackspb.DynamicValueWithSource{Value: value, SourceRange: source.message()}
	}
	return encoded, nil
}
