// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"crypto/rand"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// numbered returns a state with a lineage and a serial, which the engine wants.
func numbered(prior *tfstate.Document) *tfstate.Document {
	if prior.IsEmpty() {
		return prior
	}
	lineage := prior.Lineage()
	if lineage == "" {
		lineage = rand.Text()
	}
	return prior.WithIdentity(lineage, max(prior.Serial(), 1))
}

// withIdentity gives a state with the same resources the lineage and serial that a plan expects.
func withIdentity(state *tfstate.Document, identity tfstate.Identity) *tfstate.Document {
	if identity.Absent {
		return &tfstate.Document{}
	}
	return state.WithIdentity(identity.Lineage, identity.Serial)
}

// finalOutputs returns the outputs in a state. Those that it lacks have the value missing.
func finalOutputs(mod *engine.Module, state *tfstate.Document, missing cty.Value) (map[string]cty.Value, error) {
	stored, err := state.Outputs()
	if err != nil {
		return nil, fmt.Errorf("in the state: %w", err)
	}
	outputs := make(map[string]cty.Value, len(mod.Outputs))
	for name, declared := range mod.Outputs {
		output, ok := stored[name]
		if !ok {
			output.Value = missing
		}
		outputs[name] = markOutput(output.Value, declared.Sensitive || output.Sensitive)
	}
	return outputs, nil
}

func markOutput(value cty.Value, sensitive bool) cty.Value {
	if sensitive {
		return value.Mark(marks.Sensitive)
	}
	return value
}
