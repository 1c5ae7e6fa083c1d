// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// place is where expressions stand.
type place struct {
	repeat module.Repeat
	self   cty.Value            // [cty.NilVal] where there is none
	own    *module.Resource     // whose block it is, so that it cannot refer to it
	check  *module.Check        // in which it is
	each   *each                // each.key and each.value; nil where they are not known
	only   func(refs.Kind) bool // nil allows all kinds
	why    string               // others are not allowed
}

// each is an element of a for_each argument.
type each struct{ key, value cty.Value }

// eval evaluates an expression, and reports false if it could not.
func (m *moduleChecker) eval(expr *module.Expr, at place) (cty.Value, bool) {
	if !m.references(expr.Refs, at) {
		return cty.DynamicVal, false
	}
	scope := m.scope(expr.Refs, at)
	value, diags := lang.Evaluate(m.ctx, expr.Expression, scope)
	if !m.add(diags) {
		return cty.DynamicVal, false
	}
	return value, true
}

// scope returns the values of those references that are allowed.
func (m *moduleChecker) scope(found []refs.Reference, at place) *hcl.EvalContext {
	if len(found) == 0 {
		return m.functions
	}
	s := symbols{}
	for i := range found {
		m.addSymbol(s, found[i].Subject, at)
	}
	scope := m.functions.NewChild()
	scope.Variables = s.objects()
	return scope
}

func (m *moduleChecker) addSymbol(s symbols, subject refs.Subject, at place) {
	switch subject.Kind {
	case refs.Variable:
		s.set(m.variableValue(subject.Name), "var", subject.Name)
	case refs.Local:
		s.set(m.local(subject.Name), "local", subject.Name)
	case refs.Resource:
		m.addResource(s, subject.Resource())
	case refs.Call, refs.CallOutput:
		s.set(m.callValue(subject.Name), "module", subject.Name)
	case refs.EachKey:
		s.set(at.element().key, "each", "key")
	case refs.EachValue:
		s.set(at.element().value, "each", "value")
	case refs.CountIndex:
		s.set(cty.UnknownVal(cty.Number).RefineNotNull(), "count", "index")
	case refs.Self:
		s["self"] = at.self
	case refs.PathAttr:
		s.set(m.path(subject.Attr), "path", subject.Attr)
	case refs.TerraformOf:
		value := cty.UnknownVal(cty.String)
		if subject.Attr == "applying" {
			value = cty.UnknownVal(cty.Bool).Mark(marks.Ephemeral)
		}
		s.set(value, "terraform", subject.Attr)
	case refs.Action: // has no value
	}
}

func (at place) element() each {
	if at.each != nil {
		return *at.each
	}
	return each{key: cty.UnknownVal(cty.String).RefineNotNull(), value: cty.DynamicVal}
}

func (m *moduleChecker) addResource(s symbols, addr stackaddrs.Resource) {
	value := m.resourceValue(m.tree.Resources[addr])
	switch addr.Mode {
	case stackaddrs.DataResource:
		s.set(value, "data", addr.Type, addr.Name)
	case stackaddrs.EphemeralResource:
		s.set(value.Mark(marks.Ephemeral), "ephemeral", addr.Type, addr.Name)
	default:
		s.set(value, addr.Type, addr.Name)
		s.set(value, "resource", addr.Type, addr.Name)
	}
}

// resourceValue returns an object that is not there yet.
func (m *moduleChecker) resourceValue(r *module.Resource) cty.Value {
	schema, _ := m.schemaOf(r.ProviderAddr, r.Addr)
	if schema == nil || r.Repeat != (module.Repeat{}) {
		return cty.DynamicVal
	}
	return cty.UnknownVal(schema.Block.Type())
}

func (m *moduleChecker) path(attr string) cty.Value {
	switch attr {
	case "module":
		return cty.StringVal(m.tree.Place) // no component has a working copy yet
	case "root":
		return cty.StringVal(m.opts.RootPath)
	default:
		return cty.StringVal(m.opts.WorkPath)
	}
}

// callValue returns an object with the outputs of a module, whose names are known and whose values
// are not.
func (m *moduleChecker) callValue(name string) cty.Value {
	child := m.tree.Children[name]
	if child == nil || m.tree.Calls[name].Repeat != (module.Repeat{}) {
		return cty.DynamicVal
	}
	outputs := make(map[string]cty.Value, len(child.Outputs))
	for name, output := range child.Outputs {
		outputs[name] = marks.Declared(cty.DynamicVal, output.Sensitive, output.Ephemeral)
	}
	return cty.ObjectVal(outputs)
}

// symbols are values by their names, or by the names of the symbols that they are in.
type symbols map[string]any

func (s symbols) set(value cty.Value, path ...string) {
	for _, name := range path[:len(path)-1] {
		inner, ok := s[name].(symbols)
		if !ok {
			inner = symbols{}
			s[name] = inner
		}
		s = inner
	}
	s[path[len(path)-1]] = value
}

func (s symbols) objects() map[string]cty.Value {
	values := make(map[string]cty.Value, len(s))
	for name, inside := range s {
		switch inside := inside.(type) {
		case cty.Value:
			values[name] = inside
		case symbols:
			values[name] = cty.ObjectVal(inside.objects())
		}
	}
	return values
}
