// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terraformplan

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/document/stateobject"
	"github.com/cairnstacks/cairn/internal/document/terraformjson"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// variable is the value of a root variable. Value is nil if it is not known.
type variable struct {
	Value json.RawMessage `json:"value,omitempty"`
}

// variables are all that the module declares, with their defaults where nothing is given.
func (m *maker) variables() map[string]variable {
	given := maps.Clone(m.Component.Inputs)
	if m.Tree != nil {
		if given == nil {
			given = map[string]cty.Value{}
		}
		for name, declared := range m.Tree.Root.Variables {
			if _, ok := given[name]; !ok && declared.Default != cty.NilVal {
				given[name] = declared.Default
			}
			if declared.Ephemeral {
				given[name] = cty.NilVal
			}
		}
	}
	made := make(map[string]variable, len(given))
	for name, value := range given {
		made[name] = variable{knownPart(value)}
	}
	return made
}

// knownPart encodes a value without its unknown parts; nil if there is nothing else.
func knownPart(v cty.Value) json.RawMessage {
	if v == cty.NilVal || !v.IsKnown() {
		return nil
	}
	return written(terraformjson.Value(v))
}

// values are the values of the objects in a module and the modules that it calls.
type values struct {
	Outputs    map[string]output   `json:"outputs,omitempty"`
	RootModule *tfjson.StateModule `json:"root_module"`
}

// output is the value of an output. It has no value where that is not wholly known.
type output struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
}

func newOutput(value cty.Value, sensitive bool) output {
	made := output{Sensitive: sensitive}
	bare, _ := value.UnmarkDeep()
	if bare.IsWhollyKnown() {
		made.Value = written(terraformjson.Value(bare))
		if ty, err := ctyjson.MarshalType(bare.Type()); err == nil { // a capsule has none
			made.Type = ty
		}
	}
	return made
}

// sensitiveOutput reports whether an output is declared as sensitive, or its value has sensitive
// parts.
func (m *maker) sensitiveOutput(name string, value cty.Value) bool {
	if m.Tree != nil && m.Tree.Root.Outputs[name] != nil && m.Tree.Root.Outputs[name].Sensitive {
		return true
	}
	return marks.Contains(value, marks.Sensitive)
}

// outputs are the outputs as they will be. There are none of a component that is destroyed.
func (m *maker) outputs() map[string]cty.Value {
	if m.Component.Mode == engine.Destroy {
		return nil
	}
	outputs := maps.Clone(m.Component.Outputs)
	maps.DeleteFunc(outputs, func(_ string, value cty.Value) bool { return marks.Has(value, marks.Ephemeral) })
	return outputs
}

// plannedValues are the objects and outputs as they will be, as far as they are known.
func (m *maker) plannedValues() values {
	made := values{Outputs: map[string]output{}}
	for name, value := range m.outputs() {
		made.Outputs[name] = newOutput(value, m.sensitiveOutput(name, value))
	}
	modules := newModules()
	for _, planned := range m.Component.Changes {
		if planned.Deposed != "" || planned.After == cty.NilVal || planned.After.IsNull() {
			continue
		}
		resource := newResource(planned.Addr, planned.Provider)
		if found := m.schemaOf(planned.Provider, planned.Addr.Resource); found != nil {
			resource.SchemaVersion = uint64(found.Version) //nolint:gosec // never negative
		}
		setValues(resource, planned.After)
		modules.add(planned.Addr, resource)
	}
	made.RootModule = modules.root()
	return made
}

func newResource(addr stackaddrs.ResourceInstance, provider stackaddrs.Provider) *tfjson.StateResource {
	return &tfjson.StateResource{
		Address: addr.String(), Mode: tfjson.ResourceMode(addr.Resource.Mode.String()), Type: addr.Resource.Type, Name: addr.Resource.Name,
		Index: addr.Key.Index(), ProviderName: provider.String(),
	}
}

func setValues(resource *tfjson.StateResource, object cty.Value) {
	if known, ok := terraformjson.Value(object).(map[string]any); ok {
		resource.AttributeValues = known
	}
	resource.SensitiveValues = written(terraformjson.Sensitive(object))
}

// modules are the modules of a tree that have objects, by their addresses.
type modules map[stackaddrs.ModuleInstance]*tfjson.StateModule

func newModules() modules { return modules{stackaddrs.RootModuleInstance: {}} }

func (m modules) root() *tfjson.StateModule {
	root := m[stackaddrs.RootModuleInstance]
	sortModule(root)
	return root
}

// at returns a module, which is added to its caller when it is first needed.
func (m modules) at(addr stackaddrs.ModuleInstance) *tfjson.StateModule {
	if found := m[addr]; found != nil {
		return found
	}
	made := &tfjson.StateModule{Address: addr.String()}
	m[addr] = made
	above, _, _ := addr.Parent() // only the root has none, and that is there from the start
	caller := m.at(above)
	caller.ChildModules = append(caller.ChildModules, made)
	return made
}

func (m modules) add(addr stackaddrs.ResourceInstance, resource *tfjson.StateResource) {
	module := m.at(addr.Module)
	module.Resources = append(module.Resources, resource)
}

func sortModule(m *tfjson.StateModule) {
	slices.SortStableFunc(m.Resources, func(a, b *tfjson.StateResource) int {
		return cmp.Or(strings.Compare(a.Address, b.Address), strings.Compare(a.DeposedKey, b.DeposedKey))
	})
	slices.SortStableFunc(m.ChildModules, func(a, b *tfjson.StateModule) int { return strings.Compare(a.Address, b.Address) })
	for _, child := range m.ChildModules {
		sortModule(child)
	}
}

// state is the state of the module after refreshing.
type state struct {
	FormatVersion    string `json:"format_version"`
	TerraformVersion string `json:"terraform_version"`
	Values           values `json:"values"`
}

// priorState is the state that the changes start from. Nil if there is nothing in it.
func (m *maker) priorState() (*state, error) {
	var objects []tfstate.Object
	if len(m.Component.RefreshedState) > 0 {
		document, err := tfstate.Parse(m.Component.RefreshedState)
		if err == nil {
			objects, err = document.Objects()
		}
		if err != nil {
			return nil, err
		}
	}
	modules := newModules()
	for _, object := range objects {
		resource, err := m.priorObject(object)
		if err != nil {
			return nil, err
		}
		modules.add(object.Addr, resource)
	}
	outputs := m.priorOutputs()
	if len(objects)+len(outputs) == 0 {
		return nil, nil
	}
	return &state{stateFormat, m.version, values{outputs, modules.root()}}, nil
}

func (m *maker) priorObject(object tfstate.Object) (*tfjson.StateResource, error) {
	provider, err := stackaddrs.ParseProvider(object.ProviderName())
	if err != nil {
		return nil, err
	}
	resource := newResource(object.Addr, provider)
	resource.SchemaVersion, resource.DependsOn = object.SchemaVersion, object.Dependencies
	resource.DeposedKey, resource.Tainted = string(object.Deposed), object.Tainted
	value, ok := typedObject(object, m.schemaOf(provider, object.Addr.Resource))
	if ok {
		setValues(resource, value)
		return resource, nil
	}
	attributes, err := stateobject.Decode(object)
	resource.AttributeValues, resource.SensitiveValues = attributes.Values, written(attributes.Sensitive)
	return resource, err
}

// typedObject decodes an object by the schema of its type. It reports false for one that another
// version of the schema has written, and has its own form.
func typedObject(object tfstate.Object, described *schema.Schema) (cty.Value, bool) {
	if described == nil || described.Block == nil || uint64(described.Version) != object.SchemaVersion { //nolint:gosec // never negative
		return cty.NilVal, false
	}
	value, err := object.Value(described.Block.Type())
	if err != nil || value.IsNull() {
		return cty.NilVal, false
	}
	bare, _ := value.UnmarkDeep()
	return marks.MarkPaths(value, marks.Sensitive, described.Block.SensitivePaths(bare)), true
}

// priorOutputs are the outputs of the last apply, and those that the plan knows already: terraform
// evaluates them when it refreshes.
func (m *maker) priorOutputs() map[string]output {
	made := map[string]output{}
	for name, value := range m.previousOutputs() {
		if bare, _ := value.UnmarkDeep(); bare.IsWhollyKnown() && !bare.IsNull() {
			made[name] = newOutput(value, m.sensitiveOutput(name, value))
		}
	}
	for name, value := range m.outputs() {
		bare, _ := value.UnmarkDeep()
		switch {
		case bare.IsKnown() && bare.IsNull():
			delete(made, name)
		case bare.IsWhollyKnown():
			made[name] = newOutput(value, m.sensitiveOutput(name, value))
		}
	}
	return made
}

// outputChange is the change of an output, as terraform writes it. Whether it is sensitive is said
// of the output, before and after together.
type outputChange struct {
	Actions         []string        `json:"actions"`
	Before          any             `json:"before"`
	After           json.RawMessage `json:"after,omitempty"`
	AfterUnknown    any             `json:"after_unknown"`
	BeforeSensitive bool            `json:"before_sensitive"`
	AfterSensitive  bool            `json:"after_sensitive"`
}

func (m *maker) outputChanges() map[string]outputChange {
	before, after := m.previousOutputs(), m.outputs()
	made := map[string]outputChange{}
	for name, value := range after {
		made[name] = m.outputChange(name, before[name], value)
	}
	for name, value := range before {
		if _, ok := after[name]; !ok {
			made[name] = m.outputChange(name, value, cty.NullVal(cty.DynamicPseudoType))
		}
	}
	return made
}

func (m *maker) outputChange(name string, before, after cty.Value) outputChange {
	if before == cty.NilVal {
		before = cty.NullVal(cty.DynamicPseudoType)
	}
	sensitive := m.sensitiveOutput(name, before) || m.sensitiveOutput(name, after)
	before, _ = before.UnmarkDeep()
	after, _ = after.UnmarkDeep()
	made := outputChange{
		Actions: []string{string(actionOf(before, after))},
		Before:  terraformjson.Value(before), After: knownPart(after), AfterUnknown: false,
		BeforeSensitive: sensitive, AfterSensitive: sensitive,
	}
	if !after.IsWhollyKnown() {
		made.AfterUnknown = terraformjson.Unknown(after)
	}
	return made
}

func actionOf(before, after cty.Value) stackplan.Action {
	gone := after.IsKnown() && after.IsNull()
	switch {
	case before.IsNull() && gone, after.IsWhollyKnown() && after.RawEquals(before):
		return stackplan.NoOp
	case before.IsNull():
		return stackplan.Create
	case gone:
		return stackplan.Delete
	}
	return stackplan.Update
}

// previousOutputs are the outputs of the last apply.
func (m *maker) previousOutputs() map[string]cty.Value {
	if m.Prior != nil {
		before := m.Prior.Renamed(m.Plan.Moved).Components[m.Component.Addr]
		if before == nil {
			return nil
		}
		outputs := maps.Clone(before.Outputs)
		maps.DeleteFunc(outputs, func(_ string, value cty.Value) bool { return !value.IsKnown() }) // the apply did not get to it
		return outputs
	}
	document, err := tfstate.Parse(m.Component.RefreshedState)
	if err != nil {
		return nil
	}
	stored, err := document.Outputs()
	if err != nil {
		return nil // that was reported with the state
	}
	outputs := map[string]cty.Value{}
	for name, one := range stored {
		outputs[name] = marks.Declared(one.Value, one.Sensitive, false)
	}
	return outputs
}
