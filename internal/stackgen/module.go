// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackgen

import (
	"fmt"
	"strings"
)

// module is a module for components.
type module struct {
	dir       string
	variables []*moduleVariable
	outputs   []*moduleOutput
	secret    bool // takes sensitive values, and all outputs are sensitive
	slot      bool // takes a configuration of the provider
	keys      bool // has only the variable keys and an output of the same value
	text      string
}

type moduleVariable struct {
	name      string
	kind      kind
	optional  bool
	ephemeral bool
}

type moduleOutput struct {
	name string
	kind kind
}

// module returns a module for the next component, often one that there is.
func (g *generator) module() *module {
	if len(g.modules) > 1 && g.chance(65) {
		return pick(g, g.modules)
	}
	m := &module{dir: fmt.Sprintf("modules/m%d", len(g.modules)+1)}
	if g.chance(25) {
		g.keysModule(m)
	} else {
		m.secret = g.chance(20)
		m.slot = g.providers && g.chance(30)
		g.anyModule(m)
	}
	g.modules = append(g.modules, m)
	return m
}

// keysModule hands a set of strings through a resource, so that it is not known
// before that was applied.
func (g *generator) keysModule(m *module) {
	m.keys = true
	m.variables = []*moduleVariable{{name: "keys", kind: setKind}}
	m.outputs = []*moduleOutput{{"keys", setKind}, {"count", numberKind}}
	m.text = `variable "keys" {
  type = set(string)
}

resource "terraform_data" "keys" {
  input = var.keys
}

output "keys" {
  value = toset(terraform_data.keys.output)
}

output "count" {
  value = length(terraform_data.keys.output)
}
`
}

func (g *generator) anyModule(m *module) {
	var b strings.Builder
	if m.slot {
		fmt.Fprintf(&b, "terraform {\n  required_providers {\n    fake = {\n      source = %q\n    }\n  }\n}\n\n", Provider.String())
	}
	for i := range 1 + g.rng.IntN(4) {
		v := &moduleVariable{name: fmt.Sprintf("in%d", i), kind: g.kind(), optional: g.chance(25)}
		m.variables = append(m.variables, v)
		fmt.Fprintf(&b, "variable %q {\n  type = %s\n", v.name, v.kind)
		if v.optional {
			fmt.Fprintf(&b, "  default = %s\n", literal(g.value(v.kind)))
		}
		if m.secret && g.chance(50) {
			b.WriteString("  sensitive = true\n")
		}
		b.WriteString("}\n\n")
	}
	if g.chance(15) {
		m.variables = append(m.variables, &moduleVariable{name: "token", kind: textKind, optional: true, ephemeral: true})
		b.WriteString("variable \"token\" {\n  type = string\n  default = \"\"\n  ephemeral = true\n}\n\n")
	}
	inside := newScope()
	for _, v := range m.variables {
		if !v.ephemeral {
			inside.add(v.kind, expr{text: "var." + v.name})
		}
	}
	w := writer{g, inside, true}
	for i := range 1 + g.rng.IntN(3) {
		g.moduleOutput(&b, m, w, fmt.Sprintf("out%d", i))
	}
	m.text = b.String()
}

// moduleOutput writes an output, of a value that is known when the inputs are,
// or of one that a resource makes.
func (g *generator) moduleOutput(b *strings.Builder, m *module, w writer, name string) {
	kind := g.kind()
	e := w.expr(kind, 1)
	switch g.rng.IntN(6) {
	case 0: // as it is
	case 1:
		resource(b, name, e, "")
		if g.repeatable {
			e = expr{text: kind.conversion() + "(terraform_data." + name + ".output)"}
			break
		}
		kind = textKind
		e = expr{text: "terraform_data." + name + ".id"}
	case 2:
		kind = listKind
		resource(b, name, w.expr(textKind, 1), "count = 2\n")
		e = expr{text: "terraform_data." + name + "[*].output"}
	case 3:
		if !m.secret {
			kind = mapKind
			resource(b, name, join(`"${each.value}."`), join("for_each = ", w.expr(mapKind, 1), "\n").text)
			e = expr{text: "{ for k, r in terraform_data." + name + " : k => r.output }"}
			break
		}
		fallthrough
	default:
		trigger := ""
		if g.chance(25) {
			trigger = join("triggers_replace = ", w.leaf(textKind), "\n").text
		}
		resource(b, name, e, trigger)
		e = expr{text: kind.conversion() + "(terraform_data." + name + ".output)"}
	}
	m.outputs = append(m.outputs, &moduleOutput{name, kind})
	fmt.Fprintf(b, "output %q {\n  value = %s\n", name, e.text)
	if m.secret {
		b.WriteString("  sensitive = true\n")
	}
	b.WriteString("}\n\n")
}

func resource(b *strings.Builder, name string, input expr, argument string) {
	fmt.Fprintf(b, "resource \"terraform_data\" %q {\n  %s  input = %s\n}\n\n", name, argument, input.text)
}
