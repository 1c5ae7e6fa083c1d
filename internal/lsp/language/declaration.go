// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
)

// Kind is the kind of a declaration.
type Kind string

// The kinds of names.
const (
	Variable    Kind = "variable"
	Local       Kind = "local value"
	Output      Kind = "output"
	Component   Kind = "component"
	Call        Kind = "embedded stack"
	Provider    Kind = "provider configuration" // by LOCALNAME.NAME
	Requirement Kind = "provider"               // by its local name

	ModuleVariable Kind = "variable of a module"
	ModuleOutput   Kind = "output of a module"
	ModuleSlot     Kind = "provider of a module"
)

// Symbol identifies a declaration, in a directory: that of a stack, or that of a module.
type Symbol struct {
	Dir  string
	Kind Kind
	Name string
}

// blockKinds are the kinds of blocks whose only label is a name.
var blockKinds = map[string]Kind{"variable": Variable, "output": Output, "component": Component, "stack": Call}

// reference returns how expressions refer to a symbol, "" if they cannot.
func (s Symbol) reference() string {
	root := map[Kind]string{Variable: "var", Local: "local", Component: "component", Call: "stack", Provider: "provider"}[s.Kind]
	if root == "" {
		return ""
	}
	return root + "." + s.Name
}

// declaration is the declaration of a name of a stack.
type declaration struct {
	Symbol
	file     *file
	name     hcl.Range
	block    *syntax.Block    // for local values and requirements that with all of them
	argument *syntax.Argument // of a local value or a requirement
}

// declare adds the declarations of a file. Of several with one name, the first counts.
func (d *directory) declare(f *file) {
	if f.deploys() {
		d.declareDeployments(f)
		return
	}
	for _, block := range f.tree.Root.Blocks {
		switch block.Type {
		case "locals":
			d.declareArguments(f, block, Local)
		case "required_providers":
			d.declareArguments(f, block, Requirement)
		case "provider":
			if len(block.Labels) == 2 {
				d.add(declaration{
					Symbol: Symbol{d.path, Provider, block.Labels[0].Text + "." + block.Labels[1].Text},
					file:   f, name: block.Labels[1].Range, block: block,
				})
			}
		default:
			if kind, ok := blockKinds[block.Type]; ok && len(block.Labels) == 1 {
				d.add(declaration{Symbol: Symbol{d.path, kind, block.Labels[0].Text}, file: f, name: block.Labels[0].Range, block: block})
			}
		}
	}
}

func (d *directory) declareArguments(f *file, block *syntax.Block, kind Kind) {
	if block.Body == nil {
		return
	}
	for _, argument := range block.Body.Arguments {
		d.add(declaration{Symbol: Symbol{d.path, kind, argument.Name}, file: f, name: argument.NameRange, block: block, argument: argument})
	}
}

func (d *directory) add(decl declaration) {
	if d.decls[decl.Symbol] == nil {
		d.decls[decl.Symbol] = &decl
		d.names = append(d.names, decl.Symbol)
	}
}

// get returns the declaration of a name, nil if there is none. d may be nil.
func (d *directory) get(kind Kind, name string) *declaration {
	if d == nil {
		return nil
	}
	return d.decls[Symbol{d.path, kind, name}]
}

// all returns the declarations of a kind, in order. d may be nil.
func (d *directory) all(kind Kind) []*declaration {
	if d == nil {
		return nil
	}
	var decls []*declaration
	for _, symbol := range d.names {
		if symbol.Kind == kind {
			decls = append(decls, d.decls[symbol])
		}
	}
	return decls
}

// declaration returns the declaration of a symbol of a stack, nil if it is not declared.
func (s *Stack) declaration(symbol Symbol) *declaration {
	if dir := s.dirs[symbol.Dir]; dir != nil {
		return dir.decls[symbol]
	}
	return nil
}

// argument returns an argument of the block that declares something, nil if it has none.
func (d *declaration) value(name string) *syntax.Argument {
	if d.block == nil || d.argument != nil {
		return nil
	}
	return d.block.Body.Argument(name)
}

// text returns the source text of an argument's value, "" if it is not there.
func (d *declaration) text(name string) string {
	if argument := d.value(name); argument != nil {
		return d.file.text(argument.Value.Range)
	}
	return ""
}

// description is the value of the description argument of the block.
func (d *declaration) description() string {
	argument := d.value("description")
	if argument == nil {
		return ""
	}
	if text, ok := argument.Value.Literal(); ok {
		return text.Text
	}
	return ""
}

// repeated reports whether a block has for_each.
func (d *declaration) repeated() bool { return d.value("for_each") != nil }
