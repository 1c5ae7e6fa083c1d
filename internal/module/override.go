// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module/refs"
)

// overriddenBody is a body with the contents of the same block in an override file: its arguments
// replace those of their names, and its blocks of a type all those of the type.
type overriddenBody struct{ base, over hcl.Body }

// optional returns a schema of which nothing is required, for a part of the body may have it.
func optional(schema *hcl.BodySchema) *hcl.BodySchema {
	copied := &hcl.BodySchema{Blocks: schema.Blocks, Attributes: slices.Clone(schema.Attributes)}
	for i := range copied.Attributes {
		copied.Attributes[i].Required = false
	}
	return copied
}

// Content implements [hcl.Body].
func (b *overriddenBody) Content(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	relaxed := optional(schema)
	base, diags := b.base.Content(relaxed)
	over, moreDiags := b.over.Content(relaxed)
	content := merge(base, over)
	diags = append(diags, moreDiags...)
	return content, append(diags, missingIn(content, schema)...)
}

// PartialContent implements [hcl.Body].
func (b *overriddenBody) PartialContent(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	relaxed := optional(schema)
	base, baseRest, diags := b.base.PartialContent(relaxed)
	over, overRest, moreDiags := b.over.PartialContent(relaxed)
	content := merge(base, over)
	diags = append(diags, moreDiags...)
	return content, &overriddenBody{baseRest, overRest}, append(diags, missingIn(content, schema)...)
}

// JustAttributes implements [hcl.Body].
func (b *overriddenBody) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	attrs, diags := b.base.JustAttributes()
	over, moreDiags := b.over.JustAttributes()
	merged := make(hcl.Attributes, len(attrs)+len(over))
	for _, part := range []hcl.Attributes{attrs, over} {
		for name, attr := range part {
			merged[name] = attr
		}
	}
	return merged, append(diags, moreDiags...)
}

// MissingItemRange implements [hcl.Body].
func (b *overriddenBody) MissingItemRange() hcl.Range { return b.base.MissingItemRange() }

func merge(base, over *hcl.BodyContent) *hcl.BodyContent {
	merged := &hcl.BodyContent{Attributes: hcl.Attributes{}, MissingItemRange: base.MissingItemRange}
	for name, attr := range base.Attributes {
		merged.Attributes[name] = attr
	}
	for name, attr := range over.Attributes {
		merged.Attributes[name] = attr
	}
	replaced := map[string]bool{}
	for _, block := range over.Blocks {
		replaced[madeType(block)] = true
	}
	for _, block := range base.Blocks {
		if !replaced[madeType(block)] {
			merged.Blocks = append(merged.Blocks, block)
		}
	}
	merged.Blocks = append(merged.Blocks, over.Blocks...)
	return merged
}

// madeType returns the type of a block, or of those that a dynamic block makes.
func madeType(block *hcl.Block) string {
	if block.Type == "dynamic" && len(block.Labels) == 1 {
		return block.Labels[0]
	}
	return block.Type
}

func missingIn(content *hcl.BodyContent, schema *hcl.BodySchema) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, attr := range schema.Attributes {
		if attr.Required && content.Attributes[attr.Name] == nil {
			diags = append(diags, failure.At(content.MissingItemRange, "Missing required argument",
				"This block needs the argument %q.", attr.Name))
		}
	}
	return diags
}

// writtenBody is a body of which some arguments and blocks are not meant.
type writtenBody struct {
	body   hcl.Body
	except func(name string) bool // nil if all are meant
}

// find finds the references in the body.
func (w writtenBody) find(f *refs.Finder) {
	if native, ok := w.body.(*hclsyntax.Body); ok {
		f.AddBody(native, w.except)
		return
	}
	attrs, _ := w.body.JustAttributes() //nolint:errcheck // the schema decides on its errors
	for _, attr := range inOrder(attrs) {
		if w.except == nil || !w.except(attr.Name) {
			f.AddExpr(attr.Expr)
		}
	}
}

// names returns which arguments and blocks the body has. In JSON syntax, these are blocks and
// arguments alike.
func (w writtenBody) names() []string {
	var names []string
	native, ok := w.body.(*hclsyntax.Body)
	if !ok {
		attrs, _ := w.body.JustAttributes() //nolint:errcheck // the schema decides on its errors
		return slices.Collect(maps.Keys(attrs))
	}
	for name := range native.Attributes {
		names = append(names, name)
	}
	for _, block := range native.Blocks {
		names = append(names, madeType(block.AsHCLBlock()))
	}
	return names
}

// without returns bodies without the arguments and blocks that others override.
func without(base, over []writtenBody) []writtenBody {
	replaced := map[string]bool{}
	for _, part := range over {
		for _, name := range part.names() {
			replaced[name] = true
		}
	}
	left := make([]writtenBody, 0, len(base)+len(over))
	for _, part := range base {
		left = append(left, writtenBody{part.body, func(name string) bool {
			return replaced[name] || part.except != nil && part.except(name)
		}})
	}
	return left
}
