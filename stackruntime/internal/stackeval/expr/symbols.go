// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package expr

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// symbolTable collects values for the references of one expression, by the
// root name and the names after it.
type symbolTable map[string]symbol

// symbol is a value, or an object whose attributes are symbols.
type symbol struct {
	value cty.Value
	attrs map[string]symbol
}

func (t symbolTable) set(target stackaddrs.Referenceable, value cty.Value) {
	switch target := target.(type) {
	case stackaddrs.InputVariable:
		t.setPath(value, "var", target.Name)
	case stackaddrs.LocalValue:
		t.setPath(value, "local", target.Name)
	case stackaddrs.Component:
		t.setPath(value, "component", target.Name)
	case stackaddrs.StackCall:
		t.setPath(value, "stack", target.Name)
	case stackaddrs.ProviderConfigRef:
		t.setPath(value, "provider", target.LocalName, target.Name)
	case stackaddrs.ContextualRef:
		t.setPath(value, strings.Split(string(target), ".")...)
	}
}

func (t symbolTable) setPath(value cty.Value, path ...string) {
	attrs := map[string]symbol(t)
	for _, name := range path[:len(path)-1] {
		next := attrs[name]
		if next.attrs == nil {
			next.attrs = make(map[string]symbol)
			attrs[name] = next
		}
		attrs = next.attrs
	}
	attrs[path[len(path)-1]] = symbol{value: value}
}

func (t symbolTable) variables() map[string]cty.Value {
	vars := make(map[string]cty.Value, len(t))
	for name, s := range t {
		vars[name] = s.asValue()
	}
	return vars
}

func (s symbol) asValue() cty.Value {
	if s.attrs == nil {
		return s.value
	}
	return cty.ObjectVal(symbolTable(s.attrs).variables())
}
