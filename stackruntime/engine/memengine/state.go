// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/storedvalue"
	"github.com/cairnstacks/cairn/stackruntime/marks"
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
	module       string
	name         string
	key          stackaddrs.InstanceKey
	value        cty.Value // marked where sensitive
	tainted      bool
	createFirst  bool // create_before_destroy
	dependencies []string
}

func (o *priorObject) addr() string { return o.resource() + o.key.String() }

// resource returns the address of the resource that o is an instance of.
func (o *priorObject) resource() string { return resourceAddr(o.module, o.name) }

// moduleState is the state of one component's module while it is worked on.
type moduleState struct {
	objects map[string]*priorObject // by address
	serial  uint64
	lineage string
	engine  engine.Info
}

// decodeState reads a state document. Objects that are not terraform_data of
// the root module are an error.
func decodeState(doc engine.State, info engine.Info) (*moduleState, error) {
	s := &moduleState{objects: map[string]*priorObject{}, engine: info}
	if len(doc) == 0 {
		return s, nil
	}
	var top stateDocument
	if err := json.Unmarshal(doc, &top); err != nil {
		return nil, fmt.Errorf("prior state: %w", err)
	}
	if top.Version != 4 {
		return nil, fmt.Errorf("prior state: version %d is not supported", top.Version)
	}
	s.serial, s.lineage = top.Serial, top.Lineage
	for _, resource := range top.Resources {
		if resource.Mode != "managed" || resource.Type != dataResourceType {
			return nil, fmt.Errorf("prior state: %s.%s: the in-memory engine has only %s resources",
				resource.Type, resource.Name, dataResourceType)
		}
		for _, instance := range resource.Instances {
			o, err := decodeInstance(resource.Module, resource.Name, instance)
			if err != nil {
				return nil, fmt.Errorf("prior state: %s.%s: %w", resource.Type, resource.Name, err)
			}
			s.objects[o.addr()] = o
		}
	}
	return s, nil
}

func decodeInstance(module, name string, instance stateInstance) (*priorObject, error) {
	if instance.Deposed != "" {
		return nil, errors.New("the in-memory engine cannot work with deposed objects")
	}
	o := &priorObject{
		module:       module,
		name:         name,
		tainted:      instance.Status == "tainted",
		createFirst:  instance.CreateBeforeDestroy,
		dependencies: instance.Dependencies,
	}
	switch key := instance.IndexKey.(type) {
	case string:
		o.key = stackaddrs.StringKey(key)
	case float64:
		o.key = stackaddrs.IntKey(int64(key))
	}
	value, err := decodeAttributes(instance.Attributes)
	if err != nil {
		return nil, err
	}
	sensitive, err := decodePaths(instance.SensitiveAttributes)
	if err != nil {
		return nil, err
	}
	o.value = marks.MarkPaths(value, marks.Sensitive, sensitive)
	return o, nil
}

// decodeAttributes does what cty does with [dataType], but parses the
// description of each type once.
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

// sorted returns the objects in the order of their names and keys.
func (s *moduleState) sorted() []*priorObject {
	list := make([]*priorObject, 0, len(s.objects))
	for _, o := range s.objects {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b *priorObject) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.name, b.name), a.key.Compare(b.key))
	})
	return list
}

// stateDocument, stateResource and stateInstance are the parts of a state
// document, in the order in which terraform writes them.
type stateDocument struct {
	Version          int             `json:"version"`
	TerraformVersion string          `json:"terraform_version"`
	Serial           uint64          `json:"serial"`
	Lineage          string          `json:"lineage"`
	Outputs          struct{}        `json:"outputs"`
	Resources        []stateResource `json:"resources"`
	CheckResults     any             `json:"check_results"`
}

type stateResource struct {
	Module    string          `json:"module,omitempty"`
	Mode      string          `json:"mode"`
	Type      string          `json:"type"`
	Name      string          `json:"name"`
	Provider  string          `json:"provider"`
	Instances []stateInstance `json:"instances"`
}

type stateInstance struct {
	IndexKey            any               `json:"index_key,omitempty"`
	Status              string            `json:"status,omitempty"`
	Deposed             string            `json:"deposed,omitempty"`
	SchemaVersion       uint64            `json:"schema_version"`
	Attributes          json.RawMessage   `json:"attributes"`
	SensitiveAttributes []json.RawMessage `json:"sensitive_attributes"`
	Dependencies        []string          `json:"dependencies,omitempty"`
	CreateBeforeDestroy bool              `json:"create_before_destroy,omitempty"`
}

// encode writes the state document.
func (s *moduleState) encode(component stackaddrs.AbsComponentInstance) (engine.State, error) {
	doc := stateDocument{
		Version:          4,
		TerraformVersion: s.engine.Version,
		Serial:           s.serial,
		Lineage:          s.lineage,
		Resources:        []stateResource{},
	}
	if doc.Lineage == "" {
		doc.Lineage = newID(component, "lineage", nil)
	}
	for _, o := range s.sorted() {
		instance, err := o.encode()
		if err != nil {
			return nil, fmt.Errorf("state of %s: %w", o.addr(), err)
		}
		n := len(doc.Resources)
		if n == 0 || doc.Resources[n-1].Name != o.name || doc.Resources[n-1].Module != o.module {
			doc.Resources = append(doc.Resources, stateResource{
				Module: o.module, Mode: "managed", Type: dataResourceType, Name: o.name, Provider: builtinProviderConfig,
			})
		}
		last := &doc.Resources[len(doc.Resources)-1]
		last.Instances = append(last.Instances, instance)
	}
	return json.Marshal(doc)
}

func (o *priorObject) encode() (stateInstance, error) {
	bare, sensitive, _ := marks.Split(o.value)
	attributes, err := ctyjson.Marshal(bare, dataType)
	if err != nil {
		return stateInstance{}, err
	}
	paths, err := encodePaths(sensitive)
	if err != nil {
		return stateInstance{}, err
	}
	instance := stateInstance{
		IndexKey:            indexKey(o.key),
		Attributes:          attributes,
		SensitiveAttributes: paths,
		Dependencies:        o.dependencies,
		CreateBeforeDestroy: o.createFirst,
	}
	if o.tainted {
		instance.Status = "tainted"
	}
	return instance, nil
}

// indexKey returns an instance key as JSON documents have it: nil, a string or a number.
func indexKey(key stackaddrs.InstanceKey) any {
	if key == stackaddrs.NoKey || key.IsWildcard() {
		return nil
	}
	if text, ok := key.AsString(); ok {
		return text
	}
	n, _ := key.Value().AsBigFloat().Int64()
	return json.Number(fmt.Sprint(n))
}

// pathStep is a step of a path in sensitive_attributes.
type pathStep struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

func encodePaths(paths []cty.Path) ([]json.RawMessage, error) {
	encoded := make([]json.RawMessage, 0, len(paths))
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
		raw, err := json.Marshal(steps)
		if err != nil {
			return nil, err
		}
		encoded = append(encoded, raw)
	}
	return encoded, nil
}

func decodePaths(encoded []json.RawMessage) ([]cty.Path, error) {
	var paths []cty.Path
	for _, raw := range encoded {
		var steps []pathStep
		if err := json.Unmarshal(raw, &steps); err != nil {
			return nil, fmt.Errorf("sensitive attributes: %w", err)
		}
		var path cty.Path
		for _, step := range steps {
			switch step.Type {
			case "get_attr":
				var name string
				if err := json.Unmarshal(step.Value, &name); err != nil {
					return nil, fmt.Errorf("sensitive attributes: %w", err)
				}
				path = append(path, cty.GetAttrStep{Name: name})
			case "index":
				key, err := ctyjson.Unmarshal(step.Value, cty.DynamicPseudoType)
				if err != nil {
					return nil, fmt.Errorf("sensitive attributes: %w", err)
				}
				path = append(path, cty.IndexStep{Key: key})
			default:
				return nil, fmt.Errorf("sensitive attributes: unknown step %q", step.Type)
			}
		}
		paths = append(paths, path)
	}
	return paths, nil
}
