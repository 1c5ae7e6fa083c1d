// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// generatedPrefix is what the names of all generated objects start with.
const generatedPrefix = "__stack_"

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

// cleanState removes what is ours from a state: the latch, references to it, and the results of its checks. Latched variables get their names back.
func cleanState(state *tfstate.Document) (*tfstate.Document, error) {
	if !bytes.Contains(state.Bytes(), []byte(generatedPrefix)) {
		return state, nil
	}
	var kept []tfstate.Entry
	for _, entry := range state.Entries() {
		if strings.HasPrefix(entry.Addr.Resource.Name, generatedPrefix) {
			continue
		}
		entry, err := entry.WithoutDependencies(isGeneratedAddress)
		if err != nil {
			return nil, err
		}
		kept = append(kept, entry)
	}
	state, err := state.WithEntries(kept)
	if err != nil {
		return nil, err
	}
	return state.WithCheckAddresses(func(address string) string {
		if address = workcopy.RestoreAddress(address); strings.Contains(address, generatedPrefix) {
			return ""
		}
		return address
	})
}

// isGeneratedAddress reports whether an address in the module is that of a generated object.
func isGeneratedAddress(address string) bool {
	return strings.HasPrefix(address, "data.terraform_remote_state."+generatedPrefix) ||
		strings.HasPrefix(address, "module."+generatedPrefix)
}

// finalOutputs returns the outputs in a state. Those that it lacks are what missing is.
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
