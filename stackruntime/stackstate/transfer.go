// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"encoding/json"
	"errors"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// ExportModule returns the state of a component as a state document that plain
// terraform can go on with: the module's state with the outputs in it. Outputs
// that are null or not wholly known are left out, as terraform does.
func ExportModule(c *Component) (engine.State, error) {
	module, err := tfstate.Parse(c.Module)
	if err != nil {
		return nil, err
	}
	rest := module.Rest()
	if module.IsEmpty() {
		rest = json.RawMessage(`{"version":4}`)
	}
	doc, err := joinDocument(c.Addr, rest, module.Entries())
	if err != nil {
		return nil, err
	}
	outputs := map[string]tfstate.Output{}
	for name, value := range c.Outputs {
		bare, sensitive, ephemeral := marks.Split(value)
		if bare == cty.NilVal || bare.IsNull() || !bare.IsWhollyKnown() || len(ephemeral) > 0 {
			continue
		}
		outputs[name] = tfstate.Output{Value: bare, Sensitive: len(sensitive) > 0}
	}
	if doc, err = doc.WithOutputs(outputs); err != nil {
		return nil, err
	}
	return doc.Bytes(), nil
}

// ImportModule is the reverse of [ExportModule]: it makes a component of the
// state document of a root module. The component has neither inputs nor
// dependencies, which the next apply adds.
func ImportModule(addr stackaddrs.AbsComponentInstance, doc *tfstate.Document) (*Component, error) {
	if doc.IsEmpty() {
		return nil, errors.New("not a state document: it is empty")
	}
	c := &Component{Addr: addr, Inputs: map[string]cty.Value{}, Outputs: map[string]cty.Value{}}
	var err error
	if c.Module, err = joinModule(addr, doc.Rest(), doc.Entries()); err != nil {
		return nil, err
	}
	outputs, err := doc.Outputs()
	if err != nil {
		return nil, err
	}
	for name, output := range outputs {
		c.Outputs[name] = output.Value
		if output.Sensitive {
			c.Outputs[name] = output.Value.Mark(marks.Sensitive)
		}
	}
	return c, nil
}
