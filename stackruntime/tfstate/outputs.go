// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Output is an output value of the root module.
type Output struct {
	Value     cty.Value // known, without marks
	Sensitive bool
}

// documentOutput is an output as a document has it.
type documentOutput struct {
	Value     json.RawMessage `json:"value"`
	Type      json.RawMessage `json:"type"`
	Sensitive bool            `json:"sensitive,omitempty"`
}

// Outputs returns the output values by name. Those that are null are in no document.
func (d *Document) Outputs() (map[string]Output, error) {
	if isNull(d.members["outputs"]) {
		return nil, nil
	}
	var stored map[string]documentOutput
	if err := json.Unmarshal(d.members["outputs"], &stored); err != nil {
		return nil, fmt.Errorf("outputs: %w", err)
	}
	outputs := make(map[string]Output, len(stored))
	for name, output := range stored {
		ty, err := ctyjson.UnmarshalType(output.Type)
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		value, err := ctyjson.Unmarshal(output.Value, ty)
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		outputs[name] = Output{value, output.Sensitive}
	}
	return outputs, nil
}

// WithOutputs returns a document with other output values.
func (d *Document) WithOutputs(outputs map[string]Output) (*Document, error) {
	stored := make(map[string]documentOutput, len(outputs))
	for name, output := range outputs {
		value, err := ctyjson.Marshal(output.Value, output.Value.Type())
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		ty, err := ctyjson.MarshalType(output.Value.Type())
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		stored[name] = documentOutput{value, ty, output.Sensitive}
	}
	return d.with(object{"outputs": encode(stored)}), nil
}
