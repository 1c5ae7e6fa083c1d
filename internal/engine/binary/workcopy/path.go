// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"
)

// jsonPath is the stored form of a [cty.Path]: names of attributes and keys of indexes, each in a
// list of its own with one element.
type jsonPath []jsonStep

type jsonStep struct {
	Attr  *string      `json:"attr,omitempty"`
	Key   *string      `json:"key,omitempty"`
	Index *json.Number `json:"index,omitempty"`
}

func encodePath(path cty.Path) jsonPath {
	steps := jsonPath{}
	for _, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			steps = append(steps, jsonStep{Attr: &step.Name})
		case cty.IndexStep:
			if step.Key.Type() == cty.String {
				key := step.Key.AsString()
				steps = append(steps, jsonStep{Key: &key})
				continue
			}
			index := json.Number(step.Key.AsBigFloat().Text('f', 0))
			steps = append(steps, jsonStep{Index: &index})
		}
	}
	return steps
}

func (p jsonPath) decode() (cty.Path, error) {
	var path cty.Path
	for _, step := range p {
		switch {
		case step.Attr != nil:
			path = path.GetAttr(*step.Attr)
		case step.Key != nil:
			path = path.IndexString(*step.Key)
		case step.Index != nil:
			number, err := cty.ParseNumberVal(step.Index.String())
			if err != nil {
				return nil, fmt.Errorf("path with index %q: %w", step.Index.String(), err)
			}
			path = path.Index(number)
		default:
			return nil, fmt.Errorf("path with an empty step")
		}
	}
	return path, nil
}

type jsonLeaf struct {
	Output  string   `json:"output"`
	Input   string   `json:"input"`
	Path    jsonPath `json:"path"`
	Prefix  string   `json:"prefix,omitempty"`
	NotNull bool     `json:"not_null,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (l Leaf) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonLeaf{l.Output, l.Input, encodePath(l.Path), l.Prefix, l.NotNull})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (l *Leaf) UnmarshalJSON(data []byte) error {
	var stored jsonLeaf
	if err := json.Unmarshal(data, &stored); err != nil {
		return err
	}
	path, err := stored.Path.decode()
	*l = Leaf{stored.Output, stored.Input, path, stored.Prefix, stored.NotNull}
	return err
}

type jsonProviderLeaf struct {
	Variable string   `json:"variable"`
	Local    string   `json:"local_name"`
	Alias    string   `json:"alias,omitempty"`
	Path     jsonPath `json:"path"`
	Unknown  bool     `json:"unknown,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (l ProviderLeaf) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonProviderLeaf{l.Variable, l.Slot.LocalName, l.Slot.Alias, encodePath(l.Path), l.Unknown})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (l *ProviderLeaf) UnmarshalJSON(data []byte) error {
	var stored jsonProviderLeaf
	if err := json.Unmarshal(data, &stored); err != nil {
		return err
	}
	path, err := stored.Path.decode()
	l.Variable, l.Path, l.Unknown = stored.Variable, path, stored.Unknown
	l.Slot.LocalName, l.Slot.Alias = stored.Local, stored.Alias
	return err
}
