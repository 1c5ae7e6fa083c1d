// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stateobject reads the attributes of a resource instance in a state
// document into the trees that Terraform's JSON output has for them.
package stateobject

import (
	"bytes"
	"encoding/json"
	"fmt"

	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Attributes are the attributes of one object.
type Attributes struct {
	Values    map[string]any // numbers as json.Number
	Sensitive map[string]any // true where a value is sensitive
}

// Decode reads the attributes of an object. It knows no schema, but for the block store of
// terraform_data: attributes that can hold any type, which a state document keeps together with
// their type, are recognized by their form.
func Decode(object tfstate.Object) (Attributes, error) {
	result := Attributes{Values: map[string]any{}, Sensitive: map[string]any{}}
	if len(object.Attributes) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(object.Attributes))
		decoder.UseNumber()
		if err := decoder.Decode(&result.Values); err != nil {
			return Attributes{}, fmt.Errorf("attributes of %s: %w", object.Addr, err)
		}
	}
	for name, value := range result.Values {
		if store, ok := value.(map[string]any); ok && name == "store" && object.Addr.Resource.Type == "terraform_data" {
			for part := range store {
				store[part] = unwrap(store[part], true)
			}
			continue
		}
		result.Values[name] = unwrap(value, true)
	}
	if result.Values == nil { // the document says null
		result.Values = map[string]any{}
	}
	paths, err := decodePaths(object.SensitiveAttributes)
	if err != nil {
		return Attributes{}, fmt.Errorf("sensitive attributes of %s: %w", object.Addr, err)
	}
	for _, path := range paths {
		result.Sensitive = mark(result.Sensitive, result.Values, path).(map[string]any)
	}
	return result, nil
}

// unwrap removes the types that stand next to values. Below the attributes
// themselves, a type that is one word could be data, and is left alone.
func unwrap(value any, attribute bool) any {
	switch value := value.(type) {
	case []any:
		for i, element := range value {
			value[i] = unwrap(element, false)
		}
	case map[string]any:
		if inner, ok := typed(value, attribute); ok {
			return inner
		}
		for name, part := range value {
			value[name] = unwrap(part, false)
		}
	}
	return value
}

func typed(value map[string]any, primitive bool) (any, bool) {
	inner, hasValue := value["value"]
	ty, hasType := value["type"]
	if !hasValue || !hasType || len(value) != 2 {
		return nil, false
	}
	if _, word := ty.(string); word && !primitive {
		return nil, false
	}
	encodedType, err := json.Marshal(ty)
	if err != nil {
		return nil, false
	}
	decodedType, err := ctyjson.UnmarshalType(encodedType)
	if err != nil {
		return nil, false
	}
	encodedValue, err := json.Marshal(inner)
	if err != nil {
		return nil, false
	}
	_, err = ctyjson.Unmarshal(encodedValue, decodedType)
	return inner, err == nil
}

// pathStep is a step of a path as state documents write them.
type pathStep struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

func decodePaths(raw json.RawMessage) ([][]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var encoded [][]pathStep
	if err := json.Unmarshal(raw, &encoded); err != nil {
		return nil, err
	}
	paths := make([][]any, len(encoded))
	for i, steps := range encoded {
		for _, s := range steps {
			key, err := s.key()
			if err != nil {
				return nil, err
			}
			paths[i] = append(paths[i], key)
		}
	}
	return paths, nil
}

// key returns a string or an int.
func (s pathStep) key() (any, error) {
	raw := s.Value
	if s.Type == "index" {
		var index struct{ Value json.RawMessage }
		if err := json.Unmarshal(raw, &index); err != nil {
			return nil, err
		}
		raw = index.Value
	}
	var name string
	if err := json.Unmarshal(raw, &name); err == nil {
		return name, nil
	}
	var index int
	err := json.Unmarshal(raw, &index)
	if err != nil {
		return nil, fmt.Errorf("step %s is neither a name nor an index", raw)
	}
	return index, nil
}

// mark sets true at a path of a tree that is parallel to value. A path that leads out of the value
// marks the whole value at its last step inside.
func mark(tree, value any, path []any) any {
	if len(path) == 0 || tree == true {
		return true
	}
	switch key := path[0].(type) {
	case string:
		parts, ok := value.(map[string]any)
		if !ok {
			return true
		}
		result, ok := tree.(map[string]any)
		if !ok {
			result = map[string]any{}
		}
		result[key] = mark(result[key], parts[key], path[1:])
		return result
	case int:
		elements, ok := value.([]any)
		if !ok || key < 0 || key >= len(elements) {
			return true
		}
		result, ok := tree.([]any)
		if !ok {
			result = make([]any, len(elements))
			for i := range result {
				result[i] = false
			}
		}
		result[key] = mark(result[key], elements[key], path[1:])
		return result
	}
	return true
}
