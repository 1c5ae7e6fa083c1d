// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// documentOutput is an output in a state document.
type documentOutput struct {
	Value     json.RawMessage `json:"value"`
	Type      json.RawMessage `json:"type"`
	Sensitive bool            `json:"sensitive,omitempty"`
}

// ExportModule returns the state of a component as a state document that plain
// terraform can go on with: the module's state with the outputs in it. Outputs
// that are null or not wholly known are left out, as terraform does.
func ExportModule(c *Component) (engine.State, error) {
	rest, objects, err := splitModule(c.Module)
	if err != nil {
		return nil, err
	}
	if len(rest) == 0 {
		rest = json.RawMessage(`{"version":4}`)
	}
	doc, err := joinModule(c.Addr, rest, objects)
	if err != nil {
		return nil, err
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(doc, &top); err != nil {
		return nil, err
	}
	outputs := map[string]documentOutput{}
	for _, name := range slices.Sorted(maps.Keys(c.Outputs)) {
		bare, sensitive, ephemeral := marks.Split(c.Outputs[name])
		if bare == cty.NilVal || bare.IsNull() || !bare.IsWhollyKnown() || len(ephemeral) > 0 {
			continue
		}
		value, err := ctyjson.Marshal(bare, bare.Type())
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		ty, err := ctyjson.MarshalType(bare.Type())
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		outputs[name] = documentOutput{value, ty, len(sensitive) > 0}
	}
	if top["outputs"], err = json.Marshal(outputs); err != nil {
		return nil, err
	}
	return encodeObject(top)
}

// ImportModule is the reverse of [ExportModule]: it makes a component of the
// state document of a root module. The component has neither inputs nor
// dependencies, which the next apply adds.
func ImportModule(addr stackaddrs.AbsComponentInstance, doc engine.State) (*Component, error) {
	rest, objects, err := splitModule(doc)
	if err != nil {
		return nil, err
	}
	if len(rest) == 0 {
		return nil, errors.New("not a state document: it is empty")
	}
	c := &Component{Addr: addr, Inputs: map[string]cty.Value{}, Outputs: map[string]cty.Value{}}
	if c.Module, err = joinModule(addr, rest, objects); err != nil {
		return nil, err
	}
	var top struct{ Outputs map[string]documentOutput }
	if err := json.Unmarshal(doc, &top); err != nil {
		return nil, fmt.Errorf("outputs: %w", err)
	}
	for name, output := range top.Outputs {
		ty, err := ctyjson.UnmarshalType(output.Type)
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		v, err := ctyjson.Unmarshal(output.Value, ty)
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		if output.Sensitive {
			v = v.Mark(marks.Sensitive)
		}
		c.Outputs[name] = v
	}
	return c, nil
}
