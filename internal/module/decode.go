// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/module/refs"
)

// decoder decodes one directory.
type decoder struct {
	dir    *Directory
	common hcl.Diagnostics // mistakes that no engine can do with
	strict hcl.Diagnostics // those that an engine with a binary leaves to that

	tofu     bool                 // the directory has the language of tofu
	override bool                 // the current file is an override file
	ofTofu   bool                 // only tofu reads the current file
	declared map[string]hcl.Range // heads of the blocks that have names, by how references name them
}

var rootSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "terraform"},
	{Type: "language"},
	{Type: "required_providers"},
	{Type: "provider", LabelNames: []string{"name"}},
	{Type: "variable", LabelNames: []string{"name"}},
	{Type: "locals"},
	{Type: "output", LabelNames: []string{"name"}},
	{Type: "module", LabelNames: []string{"name"}},
	{Type: "resource", LabelNames: []string{"type", "name"}},
	{Type: "data", LabelNames: []string{"type", "name"}},
	{Type: "ephemeral", LabelNames: []string{"type", "name"}},
	{Type: "action", LabelNames: []string{"type", "name"}},
	{Type: "check", LabelNames: []string{"name"}},
	{Type: "moved"},
	{Type: "removed"},
	{Type: "import"},
}}

// blockDecoders are for the types of blocks at the top of a file.
var blockDecoders = map[string]func(*decoder, *hcl.Block){
	"terraform":          (*decoder).terraform,
	"language":           (*decoder).language,
	"required_providers": (*decoder).strayRequirements,
	"provider":           (*decoder).provider,
	"variable":           (*decoder).variable,
	"locals":             (*decoder).locals,
	"output":             (*decoder).output,
	"module":             (*decoder).call,
	"resource":           (*decoder).resourceBlock,
	"data":               (*decoder).resourceBlock,
	"ephemeral":          (*decoder).resourceBlock,
	"action":             (*decoder).action,
	"check":              (*decoder).check,
	"moved":              (*decoder).moved,
	"removed":            (*decoder).removed,
	"import":             (*decoder).imported,
}

// file decodes a file. Primary files come before override files.
func (d *decoder) file(file *File) {
	d.override, d.ofTofu = file.Override, file.Tofu
	d.blocks(file, rootSchema, blockDecoders)
	d.dir.addFunctionProviders(file)
	d.dir.addWorkspaceUses(file)
}

// blocks decodes the blocks at the top of a file.
func (d *decoder) blocks(file *File, schema *hcl.BodySchema, decoders map[string]func(*decoder, *hcl.Block)) {
	common, strict := len(d.common), len(d.strict)
	for _, block := range d.content(file.File.Body, schema).Blocks {
		decoders[block.Type](d, block)
	}
	if file.Broken { // the remainder of a file with mistakes in its syntax is often not as its author meant it
		d.common, d.strict = d.common[:common], d.strict[:strict]
	}
}

// finish sets the providers of the local names in blocks, which any file may declare.
func (d *decoder) finish() {
	for _, r := range d.dir.Resources {
		r.ProviderAddr, _ = d.dir.Provider(r.Provider.LocalName)
	}
	for _, a := range d.dir.Actions {
		a.ProviderAddr, _ = d.dir.Provider(a.Provider.LocalName)
	}
	for _, i := range d.dir.Undeclared() { // the block that is to be written for it uses the provider
		if slot := i.Slot(); checkLocalName(slot.LocalName, i.Range) == nil {
			d.dir.addUse(slot, i.To.Range())
		}
	}
	for name, meta := range d.dir.ProviderMeta {
		meta.Provider, _ = d.dir.Provider(name)
	}
	for _, variable := range d.dir.constantVariables() {
		if variable.Sensitive || variable.Ephemeral {
			d.report(hcl.Diagnostics{failure.At(variable.Range, "Constant variable with a secret", "A constant variable decides which modules are "+
				"called, and cannot be sensitive or ephemeral. Remove one of the arguments of %q.", variable.Name)})
		}
	}
	d.dir.strict = d.strict
}

// content decodes a body. That it has more than its schema is a mistake for the strict check alone:
// another version of terraform may know it.
func (d *decoder) content(body hcl.Body, schema *hcl.BodySchema) *hcl.BodyContent {
	content, diags := body.Content(schema)
	if len(diags) > 0 {
		_, _, common := body.PartialContent(schema)
		d.report(common)
		d.add(diags[len(common):]) // Content finds all that PartialContent does, and that first
	}
	return content
}

// report adds mistakes that no engine can do with.
func (d *decoder) report(diags hcl.Diagnostics) { d.common = append(d.common, diags...) }

// add adds mistakes for the strict check.
func (d *decoder) add(diags hcl.Diagnostics) { d.strict = append(d.strict, diags...) }

// problem adds an error for the strict check.
func (d *decoder) problem(at hcl.Range, summary, detail string) {
	d.strict = append(d.strict, failure.At(at, summary, "%s", detail))
}

// warn adds a warning.
func (d *decoder) warn(at hcl.Range, summary, detail string) {
	d.strict = append(d.strict, failure.WarningAt(at, summary, "%s", detail))
}

// unsupported notes a feature of the language that the native engine lacks (rule D6).
func (d *decoder) unsupported(at hcl.Range, detail string) {
	d.dir.Unsupported = append(d.dir.Unsupported, failure.At(at, "Unsupported module feature", "%s", detail))
}

// declare notes a block with a name. It reports false if the block is not to be decoded: as another
// primary file has it already, or as nothing is there for an override file to override.
func (d *decoder) declare(kind, name string, at hcl.Range) bool {
	id := kind + " " + name
	first, found := d.declared[id]
	switch {
	case d.override && !found:
		d.problem(at, "Nothing to override", fmt.Sprintf("An override file changes declarations of other files, and none declares the %s %q.",
			kind, name))
		return false
	case !d.override && found:
		d.problem(at, "Duplicate module object", fmt.Sprintf("The %s %q is declared already, at %s. Its name must be unique in the module.",
			kind, name, first))
		return false
	}
	if !d.override {
		d.declared[id] = at
	}
	return true
}

// identifier checks a name that references are made of.
func (d *decoder) identifier(name string, at hcl.Range) {
	if !hclsyntax.ValidIdentifier(name) {
		d.problem(at, "Invalid object name", fmt.Sprintf("%q cannot be a name: names begin with a letter or an underscore, and go on with "+
			"letters, digits, underscores and dashes.", name))
	}
}

// expr finds the references in an expression.
func (d *decoder) expr(expr hcl.Expression) *Expr {
	var f refs.Finder
	f.AddExpr(expr)
	d.found(&f)
	return &Expr{Expression: expr, Refs: f.Found}
}

func (d *decoder) found(f *refs.Finder) {
	d.add(f.Diags)
	for _, call := range f.Calls {
		if strings.TrimPrefix(call.Name, "core::") == "convert" {
			d.since("1.15", "the function convert", call.Range)
		}
		if lang.OnlyInTofu(call.Name) {
			d.hasOfTofu(call.Range, fmt.Sprintf("the function %q", call.Name))
		}
	}
	d.dir.Functions = append(d.dir.Functions, f.Calls...)
}

// argument returns an argument if it is there.
func (d *decoder) argument(content *hcl.BodyContent, name string) *Expr {
	if attr := content.Attributes[name]; attr != nil {
		return d.expr(attr.Expr)
	}
	return nil
}

// bodyRefs finds the references in a body, except for arguments and blocks of some names.
func (d *decoder) bodyRefs(body hcl.Body, except func(name string) bool) []refs.Reference {
	var f refs.Finder
	writtenBody{body, except}.find(&f)
	if _, native := body.(*hclsyntax.Body); !native {
		f.Diags = nil // the schema tells expressions from comments
	}
	d.found(&f)
	return f.Found
}

// schemaOf is a schema of arguments only.
func schemaOf(names ...string) *hcl.BodySchema {
	schema := &hcl.BodySchema{}
	for _, name := range names {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
	}
	return schema
}
