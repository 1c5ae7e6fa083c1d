// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Value returns the object as a value of the type that its provider's schema gives it, with the
// values marked that the document calls sensitive. Of [cty.NilType], it has the type that JSON
// says.
func (o Object) Value(ty cty.Type) (cty.Value, error) {
	if ty == cty.NilType {
		implied, err := ctyjson.ImpliedType(o.Attributes)
		if err != nil {
			return cty.NilVal, fmt.Errorf("attributes of %s: %w", o.Addr, err)
		}
		ty = implied
	}
	value, err := ctyjson.Unmarshal(o.Attributes, ty)
	if err != nil {
		return cty.NilVal, fmt.Errorf("attributes of %s: %w", o.Addr, err)
	}
	paths, err := o.SensitivePaths()
	return marks.MarkPaths(value, marks.Sensitive, paths), err
}

// pathStep is a step of a path to an attribute as documents have it.
type pathStep struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// SensitivePaths returns the paths of the attributes that the document calls sensitive.
func (o Object) SensitivePaths() ([]cty.Path, error) {
	if len(o.SensitiveAttributes) == 0 {
		return nil, nil
	}
	var encoded [][]pathStep
	if err := json.Unmarshal(o.SensitiveAttributes, &encoded); err != nil {
		return nil, fmt.Errorf("sensitive attributes: %w", err)
	}
	var paths []cty.Path
	for _, steps := range encoded {
		var path cty.Path
		for _, step := range steps {
			decoded, err := step.decode()
			if err != nil {
				return nil, fmt.Errorf("sensitive attributes: %w", err)
			}
			path = append(path, decoded)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func (s pathStep) decode() (cty.PathStep, error) {
	switch s.Type {
	case "get_attr":
		var name string
		err := json.Unmarshal(s.Value, &name)
		return cty.GetAttrStep{Name: name}, err
	case "index":
		key, err := ctyjson.Unmarshal(s.Value, cty.DynamicPseudoType)
		return cty.IndexStep{Key: key}, err
	default:
		return nil, fmt.Errorf("unknown step %q", s.Type)
	}
}

// EncodePaths returns paths in the form of [Object.SensitiveAttributes]. A path ends where it leads
// into a set, since elements of sets have no place of their own.
//
// Errors: a step that is no path of an object, such as a key that is not known.
func EncodePaths(paths []cty.Path) (json.RawMessage, error) {
	encoded := make([][]pathStep, 0, len(paths))
	for _, path := range paths {
		steps := make([]pathStep, 0, len(path))
		for _, step := range path {
			next, ok, err := encodeStep(step)
			if err != nil {
				return nil, fmt.Errorf("sensitive attributes: %w", err)
			}
			if !ok {
				break
			}
			steps = append(steps, next)
		}
		if !slices.ContainsFunc(encoded, func(other []pathStep) bool { return slices.EqualFunc(other, steps, pathStep.equal) }) {
			encoded = append(encoded, steps)
		}
	}
	return encode(encoded), nil
}

func (s pathStep) equal(other pathStep) bool {
	return s.Type == other.Type && string(s.Value) == string(other.Value)
}

// encodeStep encodes a step. ok is false for one into a set.
func encodeStep(step cty.PathStep) (encoded pathStep, ok bool, err error) {
	switch step := step.(type) {
	case cty.GetAttrStep:
		return pathStep{"get_attr", encode(step.Name)}, true, nil
	case cty.IndexStep:
		key, _ := step.Key.Unmark()
		if ty := key.Type(); ty != cty.String && ty != cty.Number {
			return pathStep{}, false, nil
		}
		value, err := ctyjson.Marshal(key, cty.DynamicPseudoType)
		return pathStep{"index", value}, err == nil, err
	default:
		return pathStep{}, false, fmt.Errorf("unknown step %T", step)
	}
}
