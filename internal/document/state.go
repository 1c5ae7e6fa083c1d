// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package document

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/document/stateobject"
	"github.com/cairnstacks/cairn/internal/document/terraformjson"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// State is the document of a state.
type State struct {
	FormatVersion string              `json:"format_version"`
	Serial        uint64              `json:"serial"`
	Lineage       string              `json:"lineage"`
	Components    []StateComponent    `json:"components"`
	Outputs       map[string]Output   `json:"outputs"`
	Variables     map[string]Variable `json:"variables"`
}

// StateComponent is a component instance in a state.
type StateComponent struct {
	Address   string            `json:"address"`
	Requires  []string          `json:"requires"`
	Outputs   map[string]Output `json:"outputs"`
	Resources []StateResource   `json:"resources"`

	Checks []tfjson.CheckResultStatic `json:"checks"`
}

// Output is an output value.
type Output struct {
	Value     any             `json:"value"`
	Type      json.RawMessage `json:"type"`
	Sensitive bool            `json:"sensitive"`

	// Unknown is absent if the value is known. Else it is true, or has that for parts of the value.
	Unknown any `json:"unknown,omitempty"`
}

// StateResource is a resource instance object.
type StateResource struct {
	Address         string         `json:"address"`
	Mode            string         `json:"mode"`
	Type            string         `json:"type"`
	Name            string         `json:"name"`
	Index           any            `json:"index,omitempty"`
	ProviderName    string         `json:"provider_name"`
	SchemaVersion   uint64         `json:"schema_version"`
	Values          map[string]any `json:"values"`
	SensitiveValues map[string]any `json:"sensitive_values"`
	DependsOn       []string       `json:"depends_on"`
	Deposed         string         `json:"deposed,omitempty"`
	Tainted         bool           `json:"tainted,omitempty"`

	// Both are absent if the object has no identity.
	Identity              json.RawMessage `json:"identity,omitempty"`
	IdentitySchemaVersion *uint64         `json:"identity_schema_version,omitempty"`
}

// Version reports which of the stored states one is.
type Version struct {
	Serial  uint64
	Lineage string
}

// NewState returns the document of a state. It fails if the state of a module
// cannot be read.
func NewState(state *stackstate.State, version Version) (State, error) {
	doc := State{
		FormatVersion: FormatVersion, Serial: version.Serial, Lineage: version.Lineage,
		Components: []StateComponent{}, Outputs: outputs(state.Outputs), Variables: map[string]Variable{},
	}
	for name, v := range state.Inputs {
		doc.Variables[name] = variable(v)
	}
	for _, c := range state.SortedComponents() {
		component, err := newStateComponent(c)
		if err != nil {
			return State{}, fmt.Errorf("%s: %w", c.Addr, err)
		}
		doc.Components = append(doc.Components, component)
	}
	slices.SortStableFunc(doc.Components, func(a, b StateComponent) int { return strings.Compare(a.Address, b.Address) })
	return doc, nil
}

func outputs(values map[string]cty.Value) map[string]Output {
	result := make(map[string]Output, len(values))
	for name, v := range values {
		output := Output{Value: terraformjson.Value(v), Type: typeJSON(v), Sensitive: marks.Contains(v, marks.Sensitive)}
		if unknown := unknownTree(v); unknown != false {
			output.Unknown = unknown
		}
		result[name] = output
	}
	return result
}

func newStateComponent(c *stackstate.Component) (StateComponent, error) {
	module, err := tfstate.Parse(c.Module)
	if err != nil {
		return StateComponent{}, err
	}
	objects, err := module.Objects()
	if err != nil {
		return StateComponent{}, err
	}
	result := StateComponent{
		Address: c.Addr.String(), Requires: addresses(c.Dependencies),
		Outputs: outputs(c.Outputs), Resources: []StateResource{},
	}
	for _, object := range objects {
		resource, err := newStateResource(object)
		if err != nil {
			return StateComponent{}, err
		}
		result.Resources = append(result.Resources, resource)
	}
	checks, err := module.Checks()
	if err != nil {
		return StateComponent{}, err
	}
	result.Checks = terraformjson.Checks(checks)
	slices.SortStableFunc(result.Resources, func(a, b StateResource) int { return strings.Compare(a.Address, b.Address) })
	return result, nil
}

func newStateResource(object tfstate.Object) (StateResource, error) {
	attributes, err := stateobject.Decode(object)
	if err != nil {
		return StateResource{}, err
	}
	resource := StateResource{
		Address: object.Addr.String(), Mode: object.Addr.Resource.Mode.String(), Type: object.Addr.Resource.Type, Name: object.Addr.Resource.Name,
		Index:        keyJSON(object.Addr.Key),
		ProviderName: object.ProviderName(), SchemaVersion: object.SchemaVersion,
		Values: attributes.Values, SensitiveValues: attributes.Sensitive,
		DependsOn: append([]string{}, object.Dependencies...),
		Deposed:   string(object.Deposed), Tainted: object.Tainted, Identity: object.Identity,
	}
	if len(object.Identity) > 0 {
		resource.IdentitySchemaVersion = &object.IdentityVersion
	}
	return resource, nil
}

// NewOutputs returns the document of output values: a map by their names.
func NewOutputs(values map[string]cty.Value) map[string]Output { return outputs(values) }

// NewOutput returns the document of one output value: the value itself.
func NewOutput(v cty.Value) any { return terraformjson.Value(v) }

// Validation is the document of a validation.
type Validation struct {
	FormatVersion string                  `json:"format_version"`
	Valid         bool                    `json:"valid"`
	ErrorCount    int                     `json:"error_count"`
	WarningCount  int                     `json:"warning_count"`
	Diagnostics   []diagnostic.Diagnostic `json:"diagnostics"`
}

// NewValidation returns the document of a validation that found the diagnostics.
func NewValidation(diags hcl.Diagnostics, sources diagnostic.Sources) Validation {
	doc := Validation{FormatVersion: FormatVersion, Diagnostics: diagnostic.All(diags, sources)}
	for _, d := range diagnostic.Sorted(diags) {
		if d.Severity == hcl.DiagError {
			doc.ErrorCount++
		} else {
			doc.WarningCount++
		}
	}
	doc.Valid = doc.ErrorCount == 0
	return doc
}
