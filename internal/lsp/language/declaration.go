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

// declarations returns the declarations of a file, in order, with all that have one name.
func (f *file) declarations() []declaration {
	var decls []declaration
	for _, block := range f.tree.Root.Blocks {
		if kind := f.argumentKind(block.Type); kind != "" && block.Body != nil {
			for _, argument := range block.Body.Arguments {
				symbol := Symbol{f.dir.path, kind, argument.Name}
				decls = append(decls, declaration{Symbol: symbol, file: f, name: argument.NameRange, block: block, argument: argument})
			}
		}
		if symbol, ok := f.blockSymbol(block); ok {
			decls = append(decls, declaration{Symbol: symbol, file: f, name: block.Labels[len(block.Labels)-1].Range, block: block})
		}
	}
	return decls
}

// argumentKind is the kind of the names that the arguments of a block declare, "" if they declare
// none.
func (f *file) argumentKind(blockType string) Kind {
	switch {
	case f.isWorkspace():
	case blockType == "locals" && f.deploys():
		return DeploymentLocal
	case blockType == "locals":
		return Local
	case blockType == "required_providers" && !f.deploys():
		return Requirement
	}
	return ""
}

// blockSymbol returns the symbol that a block declares by its labels.
func (f *file) blockSymbol(block *syntax.Block) (symbol Symbol, ok bool) {
	kinds, pairs := blockKinds, map[string]Kind{"provider": Provider}
	switch {
	case f.isWorkspace():
		return entry(f.dir, block)
	case f.deploys():
		kinds, pairs = deployKinds, map[string]Kind{"store": Store}
	}
	switch n := len(block.Labels); {
	case n == 1 && kinds[block.Type] != "":
		return Symbol{f.dir.path, kinds[block.Type], block.Labels[0].Text}, true
	case n == 2 && pairs[block.Type] != "":
		return Symbol{f.dir.path, pairs[block.Type], block.Labels[0].Text + "." + block.Labels[1].Text}, true
	}
	return Symbol{}, false
}

// declare adds the declarations of a file. Of several with one name, the first counts.
func (d *directory) declare(f *file) {
	for _, decl := range f.declarations() {
		if d.decls[decl.Symbol] == nil {
			d.decls[decl.Symbol] = &decl
			d.names = append(d.names, decl.Symbol)
		}
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
