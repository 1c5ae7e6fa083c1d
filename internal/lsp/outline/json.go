// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package outline

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"go.lsp.dev/protocol"

	"github.com/cairnstacks/cairn/internal/lsp/language/schema"
	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
	"github.com/cairnstacks/cairn/internal/lsp/position"
)

// SymbolsOfJSON returns the blocks of a component file in JSON with their arguments. Editors know
// the syntax of JSON themselves.
func SymbolsOfJSON(path string, text *position.Text) []protocol.DocumentSymbol {
	parsed := syntax.ParseJSON(path, text.Bytes(), schema.Shape(schema.Of(path)))
	return (&File{Path: path, Text: text}).jsonSymbols(parsed.Root, "")
}

func (f *File) jsonSymbols(body *syntax.Body, parent string) []protocol.DocumentSymbol {
	var symbols []protocol.DocumentSymbol
	kind, declares := kindOfEntry[parent]
	if !declares {
		kind = protocol.SymbolKindProperty
	}
	for _, argument := range body.Arguments {
		symbols = append(symbols, f.symbol(argument.Name, kind, hcl.RangeBetween(argument.NameRange, argument.Value.Range), argument.NameRange))
	}
	named := map[hcl.Range]bool{}
	for _, block := range body.Blocks {
		symbols = append(symbols, f.jsonBlock(block, named))
	}
	slices.SortStableFunc(symbols, func(a, b protocol.DocumentSymbol) int {
		return cmp.Or(cmp.Compare(a.Range.Start.Line, b.Range.Start.Line), cmp.Compare(a.Range.Start.Character, b.Range.Start.Character))
	})
	return symbols
}

// jsonBlock returns the symbol of a block. Of several in an array, only the first contains the name
// of all of them.
func (f *File) jsonBlock(block *syntax.Block, named map[hcl.Range]bool) protocol.DocumentSymbol {
	name, at := block.Type, block.TypeRange
	for _, label := range block.Labels {
		name += ` "` + label.Text + `"`
		at = label.Range
	}
	kind, known := kindOfBlock[block.Type]
	if !known {
		kind = protocol.SymbolKindObject
	}
	if named[at] {
		at = block.Range
	}
	named[at] = true
	symbol := f.symbol(name, kind, hcl.RangeBetween(at, block.Range), at)
	if source := block.Body.Argument("source"); source != nil {
		if text, ok := source.Value.Literal(); ok {
			symbol.Detail = &text.Text
		}
	}
	symbol.Children = f.jsonSymbols(block.Body, block.Type)
	return symbol
}
