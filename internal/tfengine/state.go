// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfengine

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// generatedPrefix is what the names of all generated objects start with.
const generatedPrefix = "__stack_"

// stateDocument is a state in version 4, as far as it matters here.
type stateDocument struct {
	Version int                    `json:"version"`
	Serial  uint64                 `json:"serial"`
	Lineage string                 `json:"lineage"`
	Outputs map[string]stateOutput `json:"outputs"`
}

type stateOutput struct {
	Value     json.RawMessage `json:"value"`
	Type      json.RawMessage `json:"type"`
	Sensitive bool            `json:"sensitive"`
}

// stateIdentity tells states apart that hold different objects.
type stateIdentity struct {
	Absent    bool   `json:"absent,omitempty"` // there is no state at all
	Lineage   string `json:"lineage,omitempty"`
	Serial    uint64 `json:"serial,omitempty"`
	Resources string `json:"resources"` // hash
}

// parseState decodes a state. The error of an empty one is errNoState.
func parseState(state []byte) (*stateDocument, error) {
	if len(bytes.TrimSpace(state)) == 0 {
		return nil, errNoState
	}
	var doc stateDocument
	if err := json.Unmarshal(state, &doc); err != nil {
		return nil, fmt.Errorf("reading state: %w", err)
	}
	if doc.Version != 4 {
		return nil, fmt.Errorf("reading state: format version %d is not supported, only 4", doc.Version)
	}
	return &doc, nil
}

var errNoState = errors.New("there is no state")

// identify returns the identity of a state.
func identify(state engine.State) (stateIdentity, error) {
	doc, err := parseState(state)
	if errors.Is(err, errNoState) {
		return stateIdentity{Absent: true}, nil
	}
	if err != nil {
		return stateIdentity{}, err
	}
	var content struct {
		Resources []any `json:"resources"`
	}
	decoder := json.NewDecoder(bytes.NewReader(state))
	decoder.UseNumber()
	if err := decoder.Decode(&content); err != nil {
		return stateIdentity{}, fmt.Errorf("reading state: %w", err)
	}
	identity := stateIdentity{Lineage: doc.Lineage, Serial: doc.Serial}
	if len(content.Resources) == 0 {
		return identity, nil
	}
	canonical, err := json.Marshal(content.Resources)
	if err != nil {
		return stateIdentity{}, fmt.Errorf("reading state: %w", err)
	}
	sum := sha256.Sum256(canonical)
	identity.Resources = hex.EncodeToString(sum[:])
	return identity, nil
}

// withIdentity gives a state with the same resources the lineage and serial that a plan expects.
func withIdentity(state engine.State, identity stateIdentity) (engine.State, error) {
	if identity.Absent {
		return nil, nil
	}
	members := map[string]json.RawMessage{"version": json.RawMessage("4"), "resources": json.RawMessage("[]")}
	if len(state) > 0 {
		if err := json.Unmarshal(state, &members); err != nil {
			return nil, fmt.Errorf("reading state: %w", err)
		}
	}
	members["lineage"], members["serial"] = quoted(identity.Lineage), quoted(identity.Serial)
	return json.Marshal(members)
}

// numbered returns a state with a lineage and a serial, which the engine wants, and its identity.
func numbered(state engine.State) (engine.State, stateIdentity, error) {
	identity, err := identify(state)
	if err != nil || identity.Absent {
		return nil, identity, err
	}
	if identity.Lineage == "" {
		identity.Lineage = rand.Text()
	}
	identity.Serial = max(identity.Serial, 1)
	state, err = withIdentity(state, identity)
	return state, identity, err
}

func quoted(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic("encoding a state's member: " + err.Error())
	}
	return data
}

// cleanState removes what is ours from a state: the latch, and references to it.
func cleanState(state []byte) (engine.State, error) {
	if !bytes.Contains(state, []byte(generatedPrefix)) {
		return state, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(state, &members); err != nil {
		return nil, fmt.Errorf("reading state: %w", err)
	}
	var err error
	if members["resources"], err = cleanResources(members["resources"]); err != nil {
		return nil, fmt.Errorf("reading state: %w", err)
	}
	if members["check_results"], err = cleanChecks(members["check_results"]); err != nil {
		return nil, fmt.Errorf("reading state: %w", err)
	}
	return json.MarshalIndent(members, "", "  ")
}

func cleanResources(data json.RawMessage) (json.RawMessage, error) {
	var resources []map[string]json.RawMessage
	if err := json.Unmarshal(data, &resources); err != nil {
		return nil, err
	}
	kept := []map[string]json.RawMessage{}
	for _, resource := range resources {
		var name string
		if err := json.Unmarshal(resource["name"], &name); err != nil {
			return nil, err
		}
		if strings.HasPrefix(name, generatedPrefix) {
			continue
		}
		if bytes.Contains(resource["instances"], []byte(generatedPrefix)) {
			var err error
			if resource["instances"], err = cleanInstances(resource["instances"]); err != nil {
				return nil, err
			}
		}
		kept = append(kept, resource)
	}
	return json.Marshal(kept)
}

func cleanInstances(data json.RawMessage) (json.RawMessage, error) {
	var instances []map[string]json.RawMessage
	if err := json.Unmarshal(data, &instances); err != nil {
		return nil, err
	}
	for _, instance := range instances {
		var dependencies []string
		if instance["dependencies"] == nil {
			continue
		}
		if err := json.Unmarshal(instance["dependencies"], &dependencies); err != nil {
			return nil, err
		}
		dependencies = slices.DeleteFunc(dependencies, isGeneratedAddress)
		delete(instance, "dependencies")
		if len(dependencies) > 0 {
			instance["dependencies"] = quoted(dependencies)
		}
	}
	return json.Marshal(instances)
}

// isGeneratedAddress tells whether an address in the module is that of a generated object.
func isGeneratedAddress(address string) bool {
	return strings.HasPrefix(address, "data.terraform_remote_state."+generatedPrefix) ||
		strings.HasPrefix(address, "module."+generatedPrefix)
}

// finalOutputs returns the outputs in a state. Those that it lacks are what missing is.
func finalOutputs(mod *engine.Module, doc *stateDocument, missing cty.Value) (map[string]cty.Value, error) {
	outputs := make(map[string]cty.Value, len(mod.Outputs))
	for name, declared := range mod.Outputs {
		stored, ok := doc.Outputs[name]
		value := missing
		if ok {
			ty, err := ctyjson.UnmarshalType(stored.Type)
			if err != nil {
				return nil, fmt.Errorf("output %q in state: %w", name, err)
			}
			if value, err = ctyjson.Unmarshal(stored.Value, ty); err != nil {
				return nil, fmt.Errorf("output %q in state: %w", name, err)
			}
		}
		outputs[name] = markOutput(value, declared.Sensitive || stored.Sensitive)
	}
	return outputs, nil
}
