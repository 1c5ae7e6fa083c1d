// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Block is a resource, data, ephemeral or module block.
type Block struct {
	Kind string // "resource", "data", "ephemeral" or "module"
	Type string // of the resource; empty for a module call
	Name string

	// ProviderName is the local name of a resource's provider; empty for a module call.
	ProviderName string

	repetition []hcl.Range     // the arguments count and for_each
	lifecycle  []hcl.Range     // the block of that name, which can have an argument enabled
	references []hcl.Traversal // for a module call: those of its repetition
	dependsOn  []hcl.Traversal
	arguments  map[string][]hcl.Traversal // of a module call, by variable
}

// Address returns the block's address in its module.
func (b *Block) Address() string {
	switch b.Kind {
	case "resource":
		return b.Type + "." + b.Name
	case "module":
		return "module." + b.Name
	default:
		return b.Kind + "." + b.Type + "." + b.Name
	}
}

// Repeated reports whether there is a count or a for_each argument.
func (b *Block) Repeated() bool { return len(b.repetition) > 0 }

// decidesAt reports whether the expression there decides on the instances.
func (b *Block) decidesAt(pos hcl.Range) bool {
	return slices.ContainsFunc(slices.Concat(b.repetition, b.lifecycle), func(at hcl.Range) bool {
		return at.Filename == pos.Filename && at.Start.Byte <= pos.Start.Byte && pos.Start.Byte < at.End.Byte
	})
}

// contents is the references in a directory, by the objects that have them.
type contents struct {
	blocks  map[string]*Block // by address
	locals  map[string][]hcl.Traversal
	outputs map[string][]hcl.Traversal
	imports []importBlock
}

var contentsSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "module", LabelNames: []string{"name"}},
	{Type: "resource", LabelNames: []string{"type", "name"}},
	{Type: "data", LabelNames: []string{"type", "name"}},
	{Type: "ephemeral", LabelNames: []string{"type", "name"}},
	{Type: "output", LabelNames: []string{"name"}},
	{Type: "locals"},
	{Type: "import"},
}}

// contents collects the references in a directory. Its errors were reported when it was read.
func (d *Directory) contents() *contents {
	c := &contents{
		blocks:  map[string]*Block{},
		locals:  map[string][]hcl.Traversal{},
		outputs: map[string][]hcl.Traversal{},
	}
	for _, file := range d.Files {
		content, _, _ := file.File.Body.PartialContent(contentsSchema) //nolint:errcheck // reported before
		for _, block := range content.Blocks {
			c.addBlock(block)
		}
	}
	return c
}

func (c *contents) addBlock(block *hcl.Block) {
	switch block.Type {
	case "locals":
		attrs, _ := block.Body.JustAttributes() //nolint:errcheck // reported before
		for name, attr := range attrs {
			c.locals[name] = append(c.locals[name], attr.Expr.Variables()...)
		}
	case "output":
		name := block.Labels[0]
		for _, found := range bodyArguments(block.Body) {
			c.outputs[name] = append(c.outputs[name], found.references...)
		}
	case "import":
		c.imports = append(c.imports, newImportBlock(block))
	default:
		added := &Block{Kind: block.Type, Name: block.Labels[len(block.Labels)-1], arguments: map[string][]hcl.Traversal{}}
		if block.Type != "module" {
			added.Type = block.Labels[0]
			added.ProviderName, _, _ = strings.Cut(added.Type, "_")
		}
		if merged := c.blocks[added.Address()]; merged != nil {
			added = merged // by an override file
		}
		c.blocks[added.Address()] = added
		for _, found := range bodyArguments(block.Body) {
			added.addArgument(found)
		}
	}
}

func (b *Block) addArgument(found argument) {
	if found.name == "lifecycle" {
		b.lifecycle = append(b.lifecycle, found.at)
	}
	switch {
	case found.nested || found.name == "lifecycle":
		b.references = append(b.references, found.references...)
	case found.name == "provider" && b.Kind != "module":
		if slot, diags := decodeSlot(found.expr); !diags.HasErrors() {
			b.ProviderName = slot.LocalName
		}
	case found.name == "providers" && b.Kind == "module":
	case found.name == "depends_on":
		b.dependsOn = append(b.dependsOn, found.references...)
	case found.name == "count" || found.name == "for_each":
		b.repetition = append(b.repetition, found.at)
		b.references = append(b.references, found.references...)
	case b.Kind == "module":
		b.arguments[found.name] = append(b.arguments[found.name], found.references...)
	default:
		b.references = append(b.references, found.references...)
	}
}

// argument is an argument of a block, or all the arguments of a block in it.
type argument struct {
	name       string
	nested     bool
	expr       hcl.Expression
	at         hcl.Range
	references []hcl.Traversal
}

// bodyArguments returns the arguments and nested blocks of a body, sorted by name.
func bodyArguments(body hcl.Body) []argument {
	native, ok := body.(*hclsyntax.Body)
	if !ok {
		attrs, _ := body.JustAttributes() //nolint:errcheck // in JSON, properties that are not attributes are only comments
		var found []argument
		for _, name := range slices.Sorted(maps.Keys(attrs)) {
			found = append(found, newArgument(attrs[name]))
		}
		return found
	}
	var found []argument
	for _, name := range slices.Sorted(maps.Keys(native.Attributes)) {
		found = append(found, newArgument(native.Attributes[name].AsHCLAttribute()))
	}
	for _, block := range native.Blocks {
		inner := argument{name: block.Type, nested: true, at: block.Range()}
		for _, nested := range bodyArguments(block.Body) {
			inner.references = append(inner.references, nested.references...)
		}
		found = append(found, inner)
	}
	return found
}

func newArgument(attr *hcl.Attribute) argument {
	found := argument{name: attr.Name, expr: attr.Expr, at: attr.Range, references: attr.Expr.Variables()}
	if attr.Name != "depends_on" {
		return found
	}
	found.references = nil
	exprs, _ := hcl.ExprList(attr.Expr) //nolint:errcheck // the engine reports it
	for _, expr := range exprs {
		// In JSON, these are strings that are not templates.
		if traversal, diags := hcl.AbsTraversalForExpr(expr); !diags.HasErrors() {
			found.references = append(found.references, traversal)
		}
	}
	return found
}
