// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"context"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/cairnstacks/cairn/internal/lsp/outline"
)

// outlineOf returns the outline of a document, nil for one that is not open, not known, or not in
// native syntax.
func (s *server) outlineOf(u uri.URI) *outline.File {
	doc := s.document(u)
	if doc == nil || kindOf(doc.path) == kindOther || strings.HasSuffix(doc.path, ".json") {
		return nil
	}
	if ofStack(doc.path) {
		if snap := s.workspace.Stack(doc.path); snap != nil {
			if file := snap.File(doc.path); file != nil && file.Body() != nil {
				return &outline.File{Path: doc.path, Text: file.Text, Body: file.Body()}
			}
		}
	}
	return outline.Parse(doc.path, doc.text)
}

// DocumentSymbol implements [protocol.Server].
func (s *server) DocumentSymbol(_ context.Context, params *protocol.DocumentSymbolParams) (protocol.DocumentSymbolResult, error) {
	symbols := s.symbolsOf(params.TextDocument.URI)
	if s.abilities().hierarchies {
		return append(protocol.DocumentSymbolSlice{}, symbols...), nil
	}
	return flatten(params.TextDocument.URI, symbols, ""), nil
}

// symbolsOf returns the symbols of a document, none of one that is not open or not known.
func (s *server) symbolsOf(u uri.URI) []protocol.DocumentSymbol {
	if file := s.outlineOf(u); file != nil {
		return file.Symbols()
	}
	if doc := s.document(u); doc != nil && ofStack(doc.path) && strings.HasSuffix(doc.path, ".json") {
		return outline.SymbolsOfJSON(doc.path, doc.text)
	}
	return nil
}

// flatten returns symbols for clients that do not know that one can be in another.
func flatten(u uri.URI, symbols []protocol.DocumentSymbol, container string) protocol.SymbolInformationSlice {
	flat := protocol.SymbolInformationSlice{}
	for _, symbol := range symbols {
		information := protocol.SymbolInformation{Location: protocol.Location{URI: u, Range: symbol.Range}}
		information.Name, information.Kind = symbol.Name, symbol.Kind
		if container != "" {
			information.ContainerName = &container
		}
		flat = append(append(flat, information), flatten(u, symbol.Children, symbol.Name)...)
	}
	return flat
}

// FoldingRanges implements [protocol.Server].
func (s *server) FoldingRanges(_ context.Context, params *protocol.FoldingRangeParams) ([]protocol.FoldingRange, error) {
	file := s.outlineOf(params.TextDocument.URI)
	if file == nil {
		return []protocol.FoldingRange{}, nil
	}
	return file.Folds(), nil
}

// SelectionRange implements [protocol.Server].
func (s *server) SelectionRange(_ context.Context, params *protocol.SelectionRangeParams) ([]protocol.SelectionRange, error) {
	selections := []protocol.SelectionRange{}
	file := s.outlineOf(params.TextDocument.URI)
	if file == nil {
		return selections, nil
	}
	for _, pos := range params.Positions {
		selections = append(selections, file.Selection(file.Text.Offset(pos)))
	}
	return selections, nil
}

// DocumentLink implements [protocol.Server].
func (s *server) DocumentLink(_ context.Context, params *protocol.DocumentLinkParams) ([]protocol.DocumentLink, error) {
	links := []protocol.DocumentLink{}
	file := s.outlineOf(params.TextDocument.URI)
	if file == nil {
		return links, nil
	}
	for _, link := range file.Links() {
		target := s.uriOf(link.Target)
		links = append(links, protocol.DocumentLink{Range: file.Text.Range(link.Range), Target: &target})
	}
	return links, nil
}

// SemanticTokensFull implements [protocol.Server].
func (s *server) SemanticTokensFull(_ context.Context, params *protocol.SemanticTokensParams) (*protocol.SemanticTokens, error) {
	file := s.outlineOf(params.TextDocument.URI)
	if file == nil {
		return nil, nil //nolint:nilnil // null is a result
	}
	return &protocol.SemanticTokens{Data: file.Tokens(0, len(file.Text.Bytes()))}, nil
}

// SemanticTokensRange implements [protocol.Server].
func (s *server) SemanticTokensRange(_ context.Context, params *protocol.SemanticTokensRangeParams) (*protocol.SemanticTokens, error) {
	file := s.outlineOf(params.TextDocument.URI)
	if file == nil {
		return nil, nil //nolint:nilnil // null is a result
	}
	return &protocol.SemanticTokens{Data: file.Tokens(file.Text.Offset(params.Range.Start), file.Text.Offset(params.Range.End))}, nil
}

// Formatting implements [protocol.Server].
func (s *server) Formatting(_ context.Context, params *protocol.DocumentFormattingParams) ([]protocol.TextEdit, error) {
	file := s.outlineOf(params.TextDocument.URI)
	if file == nil {
		return nil, nil
	}
	return file.Format(0, file.Text.Lines()-1), nil
}

// RangeFormatting implements [protocol.Server].
func (s *server) RangeFormatting(_ context.Context, params *protocol.DocumentRangeFormattingParams) ([]protocol.TextEdit, error) {
	file := s.outlineOf(params.TextDocument.URI)
	if file == nil {
		return nil, nil
	}
	last := int(params.Range.End.Line)
	if params.Range.End.Character == 0 && params.Range.End.Line > params.Range.Start.Line {
		last-- // nothing of it is selected
	}
	return file.Format(int(params.Range.Start.Line), last), nil
}
