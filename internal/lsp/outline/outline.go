// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package outline answers requests that need the syntax of a file alone: symbols, folding, colours,
// selections that grow, links to sources, and its canonical form. Of a file in JSON it knows the
// symbols.
//
// Rules:
//
//  1. A file with errors has the parts that could be parsed, and nothing that lies outside of its
//     text.
//  2. All results are in the order of the text.
package outline

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/lsp/position"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

// File is a file in native syntax.
type File struct {
	Path string
	Text *position.Text
	Body *hclsyntax.Body
}

// Parse returns a file as far as it can be parsed.
func Parse(path string, text *position.Text) *File {
	parsed, _ := safehcl.ParseConfig(text.Bytes(), path, hcl.InitialPos) //nolint:errcheck // others report the errors
	file := &File{Path: path, Text: text, Body: &hclsyntax.Body{}}
	if parsed != nil {
		if body, ok := parsed.Body.(*hclsyntax.Body); ok {
			file.Body = body
		}
	}
	return file
}

// item is an attribute or a block of a body.
type item struct {
	attribute *hclsyntax.Attribute
	block     *hclsyntax.Block
	rng       hcl.Range
}

// items returns the attributes and blocks of a body, in the order of the text.
func items(body *hclsyntax.Body) []item {
	all := make([]item, 0, len(body.Attributes)+len(body.Blocks))
	for _, attribute := range body.Attributes {
		all = append(all, item{attribute: attribute, rng: attribute.SrcRange})
	}
	for _, block := range body.Blocks {
		all = append(all, item{block: block, rng: blockRange(block)})
	}
	slices.SortFunc(all, func(a, b item) int { return cmp.Compare(a.rng.Start.Byte, b.rng.Start.Byte) })
	return all
}

// blockRange is all of a block. One that is not closed ends with its header, or with the last of
// its parts that could be parsed.
func blockRange(block *hclsyntax.Block) hcl.Range {
	rng := block.DefRange()
	if end := block.CloseBraceRange.End; end.Byte > rng.End.Byte {
		rng.End = end
	}
	if block.Body != nil && block.Body.EndRange.End.Byte > rng.End.Byte {
		rng.End = block.Body.EndRange.End
	}
	return rng
}
