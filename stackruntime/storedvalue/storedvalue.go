// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package storedvalue converts values between cty and the form in which plans
// and states store them.
//
// Only the sensitive mark can be stored. Ephemeral values must have been
// replaced by nulls before: one that gets here is a bug of the caller and comes
// back as an error, as do marks of others and references to providers.
package storedvalue

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	valuev1 "github.com/cairnstacks/cairn/proto/cairn/value/v1"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// ErrEphemeral is the error for a value that is ephemeral in whole or in part.
var ErrEphemeral = errors.New("ephemeral values cannot be stored; this is a bug in cairn, please report it")

// Encode returns the stored form of v, which is nil for [cty.NilVal].
func Encode(v cty.Value) (*valuev1.DynamicValue, error) {
	if v == cty.NilVal {
		return nil, nil
	}
	raw, sensitive, err := encodeDynamic(v)
	if errors.Is(err, ErrEphemeral) {
		return nil, ErrEphemeral
	}
	if err != nil {
		return nil, fmt.Errorf("encoding value: %w", err)
	}
	paths, err := EncodePaths(sensitive)
	if err != nil {
		return nil, err
	}
	return &valuev1.DynamicValue{Msgpack: raw, Sensitive: paths}, nil
}

// Decode is the reverse of [Encode].
func Decode(stored *valuev1.DynamicValue) (cty.Value, error) {
	if stored == nil {
		return cty.NilVal, nil
	}
	bare, err := decodeDynamic(stored.GetMsgpack())
	if err != nil {
		return cty.NilVal, fmt.Errorf("decoding value: %w", err)
	}
	paths, err := DecodePaths(stored.GetSensitive())
	if err != nil {
		return cty.NilVal, err
	}
	return marks.MarkPaths(bare, marks.Sensitive, paths), nil
}

// EncodeMap encodes each value. The result is nil for an empty map.
func EncodeMap(values map[string]cty.Value) (map[string]*valuev1.DynamicValue, error) {
	if len(values) == 0 {
		return nil, nil
	}
	encoded := make(map[string]*valuev1.DynamicValue, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		if v == cty.NilVal {
			v = cty.NullVal(cty.DynamicPseudoType)
		}
		stored, err := Encode(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		encoded[name] = stored
	}
	return encoded, nil
}

// DecodeMap is the reverse of [EncodeMap], except that the result is never nil.
func DecodeMap(stored map[string]*valuev1.DynamicValue) (map[string]cty.Value, error) {
	values := make(map[string]cty.Value, len(stored))
	for name, encoded := range stored {
		v, err := Decode(encoded)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		values[name] = v
	}
	return values, nil
}

// EncodePaths returns the stored form of paths.
func EncodePaths(paths []cty.Path) ([]*valuev1.AttributePath, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	count := 0
	for _, path := range paths {
		count += len(path)
	}
	messages := make([]valuev1.AttributePath, len(paths)) // all of a kind at once
	encoded := make([]*valuev1.AttributePath, len(paths))
	stepMessages := make([]valuev1.AttributePath_Step, count)
	steps := make([]*valuev1.AttributePath_Step, count)
	for i, path := range paths {
		encoded[i] = &messages[i]
		encoded[i].Steps, steps = steps[:len(path):len(path)], steps[len(path):]
		for j, step := range path {
			message := &stepMessages[0]
			stepMessages = stepMessages[1:]
			if err := encodeStep(message, step); err != nil {
				return nil, err
			}
			encoded[i].Steps[j] = message
		}
	}
	return encoded, nil
}

func encodeStep(encoded *valuev1.AttributePath_Step, step cty.PathStep) error {
	switch step := step.(type) {
	case cty.GetAttrStep:
		encoded.Step = &valuev1.AttributePath_Step_Attribute{Attribute: step.Name}
		return nil
	case cty.IndexStep:
		switch {
		case step.Key.Type() == cty.String:
			encoded.Step = &valuev1.AttributePath_Step_StringKey{StringKey: step.Key.AsString()}
			return nil
		case step.Key.Type() == cty.Number:
			n, _ := step.Key.AsBigFloat().Int64()
			encoded.Step = &valuev1.AttributePath_Step_IntKey{IntKey: n}
			return nil
		}
	}
	return fmt.Errorf("path step %#v cannot be stored", step)
}

// DecodePaths is the reverse of [EncodePaths].
func DecodePaths(stored []*valuev1.AttributePath) ([]cty.Path, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	paths := make([]cty.Path, len(stored))
	for i, encoded := range stored {
		path := make(cty.Path, len(encoded.GetSteps()))
		for j, step := range encoded.GetSteps() {
			switch step := step.GetStep().(type) {
			case *valuev1.AttributePath_Step_Attribute:
				path[j] = cty.GetAttrStep{Name: step.Attribute}
			case *valuev1.AttributePath_Step_StringKey:
				path[j] = cty.IndexStep{Key: cty.StringVal(step.StringKey)}
			case *valuev1.AttributePath_Step_IntKey:
				path[j] = cty.IndexStep{Key: cty.NumberIntVal(step.IntKey)}
			default:
				return nil, errors.New("unknown kind of path step")
			}
		}
		paths[i] = path
	}
	return paths, nil
}
