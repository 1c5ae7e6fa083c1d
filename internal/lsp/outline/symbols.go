// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package outline

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"go.lsp.dev/protocol"
)

// kindOfBlock is the kind under which editors show blocks.
var kindOfBlock = map[string]protocol.SymbolKind{
	"component": protocol.SymbolKindModule,
	"stack":     protocol.SymbolKindPackage,
	"variable":  protocol.SymbolKindVariable,
	"output":    protocol.SymbolKindField,
	"provider":  protocol.SymbolKindInterface,
	"locals":    protocol.SymbolKindNamespace,
	"group":     protocol.SymbolKindNamespace,
	"task":      protocol.SymbolKindEvent,

	"deployment":              protocol.SymbolKindModule,
	"deployment_group":        protocol.SymbolKindNamespace,
	"deployment_auto_approve": protocol.SymbolKindEvent,
	"identity_token":          protocol.SymbolKindKey,
	"store":                   protocol.SymbolKindStruct,
	"publish_output":          protocol.SymbolKindField,
	"upstream_input":          protocol.SymbolKindPackage,
}

// kindOfEntry is the kind under which they show the attributes of blocks whose attributes are
// declarations.
var kindOfEntry = map[string]protocol.SymbolKind{
	"locals":             protocol.SymbolKindConstant,
	"required_providers": protocol.SymbolKindInterface,
}

// Symbols returns the blocks of a file with their arguments.
func (f *File) Symbols() []protocol.DocumentSymbol { return f.symbolsIn(f.Body, "") }

func (f *File) symbolsIn(body *hclsyntax.Body, parent string) []protocol.DocumentSymbol {
	var symbols []protocol.DocumentSymbol
	for _, item := range items(body) {
		if item.block != nil {
			symbols = append(symbols, f.blockSymbol(item.block))
			continue
		}
		kind, declares := kindOfEntry[parent]
		if !declares {
			kind = protocol.SymbolKindProperty
		}
		symbols = append(symbols, f.symbol(item.attribute.Name, kind, item.rng, item.attribute.NameRange))
	}
	return symbols
}

func (f *File) blockSymbol(block *hclsyntax.Block) protocol.DocumentSymbol {
	name, at := block.Type, block.TypeRange
	for _, label := range block.Labels {
		name += ` "` + label + `"`
	}
	if len(block.LabelRanges) > 0 {
		at = block.LabelRanges[len(block.LabelRanges)-1]
	}
	kind, known := kindOfBlock[block.Type]
	if !known {
		kind = protocol.SymbolKindObject
	}
	symbol := f.symbol(name, kind, blockRange(block), at)
	if detail := literal(block.Body, "source"); detail != "" {
		symbol.Detail = &detail
	}
	symbol.Children = f.symbolsIn(block.Body, block.Type)
	return symbol
}

func (f *File) symbol(name string, kind protocol.SymbolKind, rng, at hcl.Range) protocol.DocumentSymbol {
	symbol := protocol.DocumentSymbol{Name: name, Kind: kind, Range: f.Text.Range(rng), SelectionRange: f.Text.Range(at)}
	if strings.TrimSpace(name) == "" {
		symbol.Name = "?" // clients refuse symbols without a name
	}
	return symbol
}

// literal returns the text of an argument that is written out, or "".
func literal(body *hclsyntax.Body, name string) string {
	if body == nil || body.Attributes[name] == nil {
		return ""
	}
	template, ok := body.Attributes[name].Expr.(*hclsyntax.TemplateExpr)
	if !ok || !template.IsStringLiteral() {
		return ""
	}
	value, diags := template.Value(nil)
	if diags.HasErrors() {
		return ""
	}
	return value.AsString()
}
