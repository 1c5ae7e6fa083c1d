// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// dataType is the type of terraform_data objects in state documents.
var dataType = cty.Object(map[string]cty.Type{
	"id":               cty.String,
	"input":            cty.DynamicPseudoType,
	"output":           cty.DynamicPseudoType,
	"triggers_replace": cty.DynamicPseudoType,
})

// builtinProviderConfig is the provider configuration address of all resources.
const builtinProviderConfig = `provider["terraform.io/builtin/terraform"]`

// priorObject is an object in the state.
type priorObject struct {
	at           stackaddrs.ResourceInstance
	value        cty.Value // marked where sensitive
	tainted      bool
	dependencies []string

	entry *tfstate.Entry // once it was encoded
}

func (o *priorObject) addr() string { return o.at.String() }

// resource returns the address of the resource that o is an instance of.
func (o *priorObject) resource() string {
	resource := o.at
	resource.Key = stackaddrs.NoKey
	return resource.String()
}

// moduleState is the state of one component's module while it is worked on.
type moduleState struct {
	objects map[string]*priorObject // by address
	serial  uint64
	lineage string
	engine  engine.Info
}

// decodeState reads a state document. Objects that are not terraform_data are an error.
func decodeState(state engine.State, info engine.Info) (*moduleState, error) {
	doc, err := tfstate.Parse(state)
	if err != nil {
		return nil, fmt.Errorf("prior state: %w", err)
	}
	s := &moduleState{objects: map[string]*priorObject{}, engine: info, serial: doc.Serial(), lineage: doc.Lineage()}
	for _, entry := range doc.Entries() {
		resource := entry.Addr.Resource
		if resource.Mode != stackaddrs.ManagedResource || resource.Type != dataResourceType {
			return nil, fmt.Errorf("prior state: %s: the in-memory engine has only %s resources", entry.Addr, dataResourceType)
		}
		o, err := decodeObject(entry)
		if err != nil {
			return nil, fmt.Errorf("prior state: %s: %w", entry.Addr, err)
		}
		s.objects[o.addr()] = o
	}
	return s, nil
}

func decodeObject(entry tfstate.Entry) (*priorObject, error) {
	if entry.Deposed != "" {
		return nil, errors.New("the in-memory engine cannot work with deposed objects")
	}
	stored, err := entry.Object()
	if err != nil {
		return nil, err
	}
	o := &priorObject{
		at:           stored.Addr,
		tainted:      stored.Tainted,
		dependencies: stored.Dependencies,
		entry:        &entry,
	}
	value, err := decodeAttributes(stored.Attributes)
	if err != nil {
		return nil, err
	}
	sensitive, err := stored.SensitivePaths()
	if err != nil {
		return nil, err
	}
	o.value = marks.MarkPaths(value, marks.Sensitive, sensitive)
	return o, nil
}

// decodeAttributes decodes like cty with [dataType], but parses the description of each type once.
func decodeAttributes(raw json.RawMessage) (cty.Value, error) {
	var attributes struct {
		ID              *string         `json:"id"`
		Input           json.RawMessage `json:"input"`
		Output          json.RawMessage `json:"output"`
		TriggersReplace json.RawMessage `json:"triggers_replace"`
	}
	if err := json.Unmarshal(raw, &attributes); err != nil {
		return cty.NilVal, err
	}
	if attributes.ID == nil {
		return cty.NilVal, errors.New("the object has no id")
	}
	input, err := decodeDynamic(attributes.Input)
	if err != nil {
		return cty.NilVal, fmt.Errorf("input: %w", err)
	}
	output, err := decodeDynamic(attributes.Output)
	if err != nil {
		return cty.NilVal, fmt.Errorf("output: %w", err)
	}
	triggersReplace, err := decodeDynamic(attributes.TriggersReplace)
	if err != nil {
		return cty.NilVal, fmt.Errorf("triggers_replace: %w", err)
	}
	return object(cty.StringVal(*attributes.ID), input, output, triggersReplace), nil
}

func decodeDynamic(raw json.RawMessage) (cty.Value, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return cty.NullVal(cty.DynamicPseudoType), nil
	}
	var encoded struct{ Value, Type json.RawMessage }
	if err := json.Unmarshal(raw, &encoded); err != nil {
		return cty.NilVal, err
	}
	ty, err := storedvalue.ParseType(encoded.Type)
	if err != nil {
		return cty.NilVal, err
	}
	if ty == cty.String && string(encoded.Value) != "null" {
		var text string
		err := json.Unmarshal(encoded.Value, &text)
		return cty.StringVal(text), err
	}
	return ctyjson.Unmarshal(encoded.Value, ty)
}

// encode writes the state document.
func (s *moduleState) encode(component stackaddrs.AbsComponentInstance) (engine.State, error) {
	entries := make([]tfstate.Entry, 0, len(s.objects))
	for _, o := range s.objects {
		entry, err := o.encode()
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	lineage := s.lineage
	if lineage == "" {
		lineage = newID(component, "lineage", nil)
	}
	rest, err := json.Marshal(stateHead{s.engine.Version, s.serial, lineage})
	if err != nil {
		return nil, err
	}
	doc, err := tfstate.New(rest, entries)
	if err != nil {
		return nil, err
	}
	return doc.Bytes(), nil
}

// stateHead is the content of a state document besides objects.
type stateHead struct {
	TerraformVersion string `json:"terraform_version"`
	Serial           uint64 `json:"serial"`
	Lineage          string `json:"lineage"`
}

// encode returns the entry for a state document. An object is not changed once it is in a state.
func (o *priorObject) encode() (tfstate.Entry, error) {
	if o.entry != nil {
		return *o.entry, nil
	}
	bare, sensitive, _ := marks.Split(o.value)
	attributes, err := ctyjson.Marshal(bare, dataType)
	if err != nil {
		return tfstate.Entry{}, fmt.Errorf("state of %s: %w", o.addr(), err)
	}
	paths, err := encodePaths(sensitive)
	if err != nil {
		return tfstate.Entry{}, fmt.Errorf("state of %s: %w", o.addr(), err)
	}
	entry, err := tfstate.Object{
		Addr:                o.at,
		Provider:            builtinProviderConfig,
		Tainted:             o.tainted,
		Attributes:          attributes,
		SensitiveAttributes: paths,
		Dependencies:        o.dependencies,
	}.Entry()
	o.entry = &entry
	return entry, err
}

// pathStep is a step of a path in sensitive_attributes.
type pathStep struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

func encodePaths(paths []cty.Path) (json.RawMessage, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	encoded := make([][]pathStep, 0, len(paths))
	for _, path := range paths {
		steps := make([]pathStep, len(path))
		for i, step := range path {
			var err error
			switch step := step.(type) {
			case cty.GetAttrStep:
				steps[i].Type = "get_attr"
				steps[i].Value, err = json.Marshal(step.Name)
			case cty.IndexStep:
				steps[i].Type = "index"
				steps[i].Value, err = ctyjson.Marshal(step.Key, cty.DynamicPseudoType)
			}
			if err != nil {
				return nil, err
			}
		}
		encoded = append(encoded, steps)
	}
	return json.Marshal(encoded)
}
