// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Shape is the plan's memory of the working copy in which it was made, so that the final values
// reach the places that were unknown. It holds no values.
type Shape struct {
	// Latched are the variables that the latch's child module has, sorted.
	Latched []string `json:"latched,omitempty"`
	Leaves  []Leaf   `json:"leaves,omitempty"`

	// Ephemeral are the ephemeral variables whose values are given anew for the apply. Those in
	// EphemeralWrapped, which were unknown or null while planning, get them from generated variables.
	Ephemeral        []string `json:"ephemeral,omitempty"`
	EphemeralWrapped []string `json:"ephemeral_wrapped,omitempty"`

	Providers []ProviderLeaf `json:"providers,omitempty"`
}

// NeedsLatch reports whether the working copy has the latch's data source.
func (s *Shape) NeedsLatch() bool { return len(s.Leaves) > 0 }

// ephemeralName is the name of the generated variable for an ephemeral variable.
func ephemeralName(variable string) string { return prefix + "e_" + variable }

// Generated is the content of the working copy that depends on values.
type generated struct {
	shape *Shape

	arguments map[string]string // expressions for the child module's call, by variable
	byFile    bool              // see [Spec]
	refined   map[string]string // functions to apply to outputs of the child module
	variables map[string]any    // generated variable blocks
	sensitive []string          // variables that an override file declares sensitive
	values    map[string]json.RawMessage
}

// shapeInputs decides how each input reaches the module.
func shapeInputs(mod *engine.Module, inputs map[string]cty.Value, byFile bool) (*generated, error) {
	g := &generated{
		byFile:    byFile,
		shape:     &Shape{},
		arguments: map[string]string{},
		refined:   map[string]string{},
		variables: map[string]any{},
		values:    map[string]json.RawMessage{},
	}
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		variable := mod.Variables[name]
		if variable == nil {
			return nil, fmt.Errorf("the module has no variable %q", name)
		}
		g.input(variable, inputs[name])
	}
	return g, nil
}

func (g *generated) input(variable *engine.Variable, value cty.Value) {
	name := variable.Name
	isSensitive := marks.Contains(value, marks.Sensitive)
	bare, _ := value.UnmarkDeep()
	switch {
	case variable.Ephemeral && bare.IsWhollyKnown() && !bare.IsNull():
		g.shape.Ephemeral = append(g.shape.Ephemeral, name)
		g.values[name] = plainJSON(bare)
	case variable.Ephemeral:
		g.shape.Latched = append(g.shape.Latched, name)
		g.shape.EphemeralWrapped = append(g.shape.EphemeralWrapped, name)
		g.arguments[name] = g.ephemeral(ephemeralName(name), bare, isSensitive || variable.Sensitive)
		return
	case isLiteral(variable, value):
		g.values[name] = plainJSON(bare)
	default:
		g.shape.Latched = append(g.shape.Latched, name)
		c := constructor{input: name, exact: variable.Type.HasDynamicTypes(), byFile: g.byFile, leaves: &g.shape.Leaves}
		g.arguments[name] = c.expression(value, nil)
		g.refined[name] = refinement(value)
		return
	}
	if isSensitive && !variable.Sensitive {
		g.sensitive = append(g.sensitive, name)
	}
}

// ephemeral generates an ephemeral variable and returns an expression for its value.
//
// The variable holds a tuple with the value as its only element: the engine takes null for a
// variable that is not set, and wants one to be set both while planning and while applying, or
// never.
func (g *generated) ephemeral(name string, value cty.Value, sensitive bool) string {
	g.variables[name] = map[string]any{"ephemeral": true, "sensitive": sensitive}
	if value.IsWhollyKnown() {
		g.values[name] = wrapped(value)
		return "var." + name + "[0]"
	}
	g.values[name] = wrapped(cty.NullVal(cty.DynamicPseudoType))
	return "terraform.applying ? var." + name + "[0] : try(jsondecode(uuid()), null)"
}

func wrapped(value cty.Value) json.RawMessage { return plainJSON(cty.TupleVal([]cty.Value{value})) }

// refinement returns a function that gives back its argument, and whose result is known not to be
// null.
func refinement(value cty.Value) string {
	value, _ = value.Unmark()
	if value.IsKnown() || value.Type() == cty.DynamicPseudoType || !value.Range().DefinitelyNotNull() {
		return ""
	}
	switch ty := value.Type(); {
	case ty.IsListType():
		return "concat"
	case ty.IsSetType():
		return "setunion"
	case ty.IsMapType():
		return "merge"
	default:
		return ""
	}
}

// isLiteral reports whether a file of variables can give the module exactly this value.
func isLiteral(variable *engine.Variable, value cty.Value) bool {
	bare, valueMarks := value.UnmarkDeepWithPaths()
	if !bare.IsWhollyKnown() {
		return false
	}
	for _, marked := range valueMarks {
		if len(marked.Path) > 0 {
			return false
		}
	}
	if !variable.Type.HasDynamicTypes() {
		return true
	}
	given := structural(bare)
	given = variable.ApplyDefaults(given)
	arrived, err := convert.Convert(given, variable.Type)
	return err == nil && arrived.RawEquals(bare)
}

// structural returns the value as it comes out of JSON: with objects for maps, and tuples for
// lists and sets.
func structural(value cty.Value) cty.Value {
	ty := value.Type()
	switch {
	case value.IsNull():
		return cty.NullVal(cty.DynamicPseudoType)
	case ty.IsObjectType() || ty.IsMapType():
		parts := value.AsValueMap()
		for name, part := range parts {
			parts[name] = structural(part)
		}
		return cty.ObjectVal(parts)
	case ty.IsTupleType() || ty.IsListType() || ty.IsSetType():
		parts := value.AsValueSlice()
		for i, part := range parts {
			parts[i] = structural(part)
		}
		return cty.TupleVal(parts)
	default:
		return value
	}
}

// plainJSON encodes a known value the way users write it: without types.
func plainJSON(value cty.Value) json.RawMessage { return mustMarshal(plain(value)) }

func plain(value cty.Value) any {
	ty := value.Type()
	switch {
	case value.IsNull():
		return nil
	case ty == cty.String:
		return value.AsString()
	case ty == cty.Bool:
		return value.True()
	case ty == cty.Number:
		return json.Number(value.AsBigFloat().Text('g', -1))
	case ty.IsObjectType() || ty.IsMapType():
		object := map[string]any{}
		for name, part := range value.AsValueMap() {
			object[name] = plain(part)
		}
		return object
	default:
		array := []any{}
		for it := value.ElementIterator(); it.Next(); {
			_, part := it.Element()
			array = append(array, plain(part))
		}
		return array
	}
}
