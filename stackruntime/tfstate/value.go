// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Value returns the object as a value of the type that its provider's schema gives it, with what the document calls sensitive marked. Of [cty.NilType], it has the
// type that JSON says.
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
