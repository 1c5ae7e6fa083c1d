// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"path/filepath"
	"slices"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/cairnstacks/cairn/internal/lsp/outline"
	"github.com/cairnstacks/cairn/internal/lsp/position"
)

func (e *editor) document(name string) protocol.TextDocumentIdentifier {
	return protocol.TextDocumentIdentifier{URI: e.uri(name)}
}

const crooked = "# é😀\r\nlocals {\r\nx=\"😀\"\r\n}\r\n"

func TestFormatting(t *testing.T) {
	e := open(t, network)
	e.openText("x.tfcomponent.hcl", crooked)
	edits, err := e.Formatting(t.Context(), &protocol.DocumentFormattingParams{TextDocument: e.document("x.tfcomponent.hcl")})
	e.check(err)
	text := position.NewText([]byte(crooked))
	for _, edit := range slices.Backward(edits) {
		text = text.Replaced(edit.Range, edit.NewText)
	}
	if got, want := string(text.Bytes()), "# é😀\r\nlocals {\r\n  x = \"😀\"\r\n}\r\n"; got != want {
		t.Errorf("formatted: %q, want %q", got, want)
	}
	edits, err = e.RangeFormatting(t.Context(), &protocol.DocumentRangeFormattingParams{
		TextDocument: e.document("x.tfcomponent.hcl"), Range: protocol.Range{End: protocol.Position{Line: 2}},
	})
	e.check(err)
	if len(edits) != 0 {
		t.Errorf("the lines before the crooked one are edited: %v", edits)
	}
	e.openText("y.tfcomponent.json", "{}")
	edits, err = e.Formatting(t.Context(), &protocol.DocumentFormattingParams{TextDocument: e.document("y.tfcomponent.json")})
	if err != nil || len(edits) > 0 {
		t.Errorf("a file in JSON: %v, %v", edits, err)
	}
	e.leave()
}

func TestDocumentSymbols(t *testing.T) {
	e := open(t, network)
	e.open("main.tfcomponent.hcl")
	result, err := e.DocumentSymbol(t.Context(), &protocol.DocumentSymbolParams{TextDocument: e.document("main.tfcomponent.hcl")})
	e.check(err)
	symbols, _ := result.(protocol.DocumentSymbolSlice)
	if len(symbols) != 1 || symbols[0].Name != `component "net"` || len(symbols[0].Children) != 2 {
		t.Errorf("symbols: %+v", result)
	}
}

func TestDocumentSymbolsOfJSON(t *testing.T) {
	e := open(t, network)
	e.openText("x.tfcomponent.json", `{"component": {"a": {"source": "./a"}}}`)
	result, err := e.DocumentSymbol(t.Context(), &protocol.DocumentSymbolParams{TextDocument: e.document("x.tfcomponent.json")})
	e.check(err)
	symbols, _ := result.(protocol.DocumentSymbolSlice)
	if len(symbols) != 1 || symbols[0].Name != `component "a"` || len(symbols[0].Children) != 1 {
		t.Errorf("symbols: %+v", result)
	}
}

// A client that knows no symbols in others gets a list.
func TestFlatSymbols(t *testing.T) {
	e := connect(t, t.TempDir())
	_, err := e.Initialize(t.Context(), &protocol.InitializeParams{})
	e.check(err)
	e.openText("x.tfcomponent.hcl", "locals {\n  x = 1\n}\n")
	result, err := e.DocumentSymbol(t.Context(), &protocol.DocumentSymbolParams{TextDocument: e.document("x.tfcomponent.hcl")})
	e.check(err)
	symbols, _ := result.(protocol.SymbolInformationSlice)
	if len(symbols) != 2 || symbols[1].Name != "x" || symbols[1].ContainerName == nil || *symbols[1].ContainerName != "locals" {
		t.Errorf("symbols: %+v", result)
	}
}

func TestSyntaxFeatures(t *testing.T) {
	e := open(t, network)
	e.open("main.tfcomponent.hcl")
	doc := e.document("main.tfcomponent.hcl")

	folds, err := e.FoldingRanges(t.Context(), &protocol.FoldingRangeParams{TextDocument: doc})
	e.check(err)
	if len(folds) != 1 || folds[0].StartLine != 0 || folds[0].EndLine != 2 {
		t.Errorf("folds: %+v", folds)
	}

	links, err := e.DocumentLink(t.Context(), &protocol.DocumentLinkParams{TextDocument: doc})
	e.check(err)
	if len(links) != 1 || links[0].Target == nil || links[0].Target.FsPath() != filepath.Join(e.dir, "net/main.tf") {
		t.Errorf("links: %+v", links)
	}

	selections, err := e.SelectionRange(t.Context(), &protocol.SelectionRangeParams{
		TextDocument: doc,
		Positions:    []protocol.Position{{Line: 2, Character: 24}},
	})
	e.check(err)
	if len(selections) != 1 || selections[0].Range.Start != (protocol.Position{Line: 2, Character: 20}) || selections[0].Parent == nil {
		t.Errorf("selections: %+v", selections)
	}

	tokens, err := e.SemanticTokensFull(t.Context(), &protocol.SemanticTokensParams{TextDocument: doc})
	e.check(err)
	part, err := e.SemanticTokensRange(t.Context(), &protocol.SemanticTokensRangeParams{
		TextDocument: doc,
		Range:        protocol.Range{End: protocol.Position{Line: 1}},
	})
	e.check(err)
	if len(part.Data) != 4*5 || !slices.Equal(part.Data, tokens.Data[:len(part.Data)]) || outline.TokenTypes[part.Data[3]] != "keyword" {
		t.Errorf("tokens of the first line: %v of %v", part.Data, tokens.Data)
	}
}

// Documents that are not open, or that the server does not know, have empty answers.
func TestUnknownDocuments(t *testing.T) {
	e := open(t, network)
	e.openText("net/main.tf", "variable \"size\" {\n}\n")
	for _, name := range []string{"main.tfcomponent.hcl", "net/main.tf", "nothing"} {
		doc := e.document(name)
		if result, err := e.DocumentSymbol(t.Context(), &protocol.DocumentSymbolParams{TextDocument: doc}); err != nil ||
			countSymbols(result) > 0 {
			t.Errorf("%s: symbols %v, %v", name, result, err)
		}
		if folds, err := e.FoldingRanges(t.Context(), &protocol.FoldingRangeParams{TextDocument: doc}); err != nil || len(folds) > 0 {
			t.Errorf("%s: folds %v, %v", name, folds, err)
		}
		if tokens, err := e.SemanticTokensFull(t.Context(), &protocol.SemanticTokensParams{TextDocument: doc}); err != nil || tokens != nil {
			t.Errorf("%s: tokens %v, %v", name, tokens, err)
		}
	}
}

// A new file in a directory that is not there belongs to no stack.
func TestFileOutsideOfStacks(t *testing.T) {
	e := open(t, network)
	e.openText("new/x.tfcomponent.hcl", "locals {\n  x = \n}\n")
	e.until(func() string {
		if len(e.shown("new/x.tfcomponent.hcl")) == 1 {
			return ""
		}
		return "nothing is shown"
	}, "errors of the syntax")
	e.replace("new/x.tfcomponent.hcl", "x = ", "x = 1")
	e.want("new/x.tfcomponent.hcl")
	result, err := e.DocumentSymbol(t.Context(), &protocol.DocumentSymbolParams{TextDocument: e.document("new/x.tfcomponent.hcl")})
	e.check(err)
	if countSymbols(result) != 1 {
		t.Errorf("symbols: %v", result)
	}
}

func countSymbols(result protocol.DocumentSymbolResult) int {
	switch symbols := result.(type) {
	case protocol.DocumentSymbolSlice:
		return len(symbols)
	case protocol.SymbolInformationSlice:
		return len(symbols)
	}
	return 0
}
