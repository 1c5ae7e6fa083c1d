// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.lsp.dev/protocol"
)

// A file that is typed one character after the other has an answer to everything at each moment,
// all diagnostics lie in the text that they are about, and in the end there are none.
func TestTyping(t *testing.T) {
	for name, ending := range map[string]string{"LF": "\n", "CRLF": "\r\n"} {
		t.Run(name, func(t *testing.T) {
			e := open(t, shop)
			src, err := os.ReadFile(filepath.Join(e.dir, mainFile))
			e.check(err)
			if err := os.Remove(filepath.Join(e.dir, mainFile)); err != nil {
				t.Fatal(err)
			}
			e.openText(mainFile, "")
			for i, char := range strings.ReplaceAll(string(src), "\n", ending) {
				end := e.texts[mainFile].Position(len(e.texts[mainFile].Bytes()))
				e.edit(mainFile, protocol.Range{Start: end, End: end}, string(char))
				e.askEverything(mainFile)
				if i%40 == 0 {
					e.checked(mainFile)
				}
				e.checkRanges(mainFile)
			}
			e.want(mainFile)
			if text := string(e.texts[mainFile].Bytes()); !strings.Contains(text, ending+"output") {
				t.Errorf("what was typed is %q", text)
			}
			e.leave()
		})
	}
}

// askEverything asks all that an editor asks after an edit, at the end of a file.
func (e *editor) askEverything(name string) {
	e.t.Helper()
	doc, ctx := e.document(name), e.t.Context()
	end := e.texts[name].Position(len(e.texts[name].Bytes()))
	at := protocol.TextDocumentPositionParams{TextDocument: doc, Position: end}
	all := protocol.Range{End: end}
	var work sync.WaitGroup
	ask := func(what string, question func() error) {
		work.Go(func() {
			if err := question(); err != nil {
				e.t.Errorf("%s: %v", what, err)
			}
		})
	}
	ask("completion", func() error {
		_, err := e.Completion(ctx, &protocol.CompletionParams{TextDocumentPositionParams: at})
		return err
	})
	ask("hover", func() error {
		_, err := e.Hover(ctx, &protocol.HoverParams{TextDocumentPositionParams: at})
		return err
	})
	ask("signature", func() error {
		_, err := e.SignatureHelp(ctx, &protocol.SignatureHelpParams{TextDocumentPositionParams: at})
		return err
	})
	ask("definition", func() error {
		_, err := e.Definition(ctx, &protocol.DefinitionParams{TextDocumentPositionParams: at})
		return err
	})
	ask("references", func() error {
		_, err := e.References(ctx, &protocol.ReferenceParams{TextDocumentPositionParams: at})
		return err
	})
	ask("highlights", func() error {
		_, err := e.DocumentHighlight(ctx, &protocol.DocumentHighlightParams{TextDocumentPositionParams: at})
		return err
	})
	ask("symbols", func() error {
		_, err := e.DocumentSymbol(ctx, &protocol.DocumentSymbolParams{TextDocument: doc})
		return err
	})
	ask("tokens", func() error {
		_, err := e.SemanticTokensFull(ctx, &protocol.SemanticTokensParams{TextDocument: doc})
		return err
	})
	ask("folds", func() error {
		_, err := e.FoldingRanges(ctx, &protocol.FoldingRangeParams{TextDocument: doc})
		return err
	})
	ask("links", func() error {
		_, err := e.DocumentLink(ctx, &protocol.DocumentLinkParams{TextDocument: doc})
		return err
	})
	ask("form", func() error {
		_, err := e.Formatting(ctx, &protocol.DocumentFormattingParams{TextDocument: doc})
		return err
	})
	ask("hints", func() error {
		_, err := e.InlayHint(ctx, &protocol.InlayHintParams{TextDocument: doc, Range: all})
		return err
	})
	ask("lenses", func() error { _, err := e.CodeLens(ctx, &protocol.CodeLensParams{TextDocument: doc}); return err })
	ask("actions", func() error {
		_, err := e.CodeAction(ctx, &protocol.CodeActionParams{TextDocument: doc, Range: all})
		return err
	})
	ask("selections", func() error {
		_, err := e.SelectionRange(ctx, &protocol.SelectionRangeParams{TextDocument: doc, Positions: []protocol.Position{end}})
		return err
	})
	work.Wait()
}

// checked waits until diagnostics of a file as it is now are told.
func (e *editor) checked(name string) {
	e.t.Helper()
	e.until(func() string {
		if told := e.last(name); told != nil && told.Version == protocol.NewOptional(e.versions[name]) {
			return ""
		}
		return "not yet"
	}, "diagnostics of the last version")
}

// checkRanges fails if a diagnostic of the text as it is now lies outside of it.
func (e *editor) checkRanges(name string) {
	e.t.Helper()
	told := e.last(name)
	if told == nil {
		return
	}
	if version, _ := told.Version.Get(); version != e.versions[name] {
		return
	}
	text := e.texts[name]
	for _, diag := range told.Diagnostics {
		for _, pos := range []protocol.Position{diag.Range.Start, diag.Range.End} {
			if got := text.Position(text.Offset(pos)); got != pos {
				e.t.Errorf("a diagnostic at %v is outside of %q", diag.Range, text.Bytes())
			}
		}
	}
}

// Files that are removed while they are open count as they are in the editor, and those that are
// closed not at all.
func TestRemovedFiles(t *testing.T) {
	e := open(t, shop)
	e.open(mainFile)
	e.want(mainFile)
	if err := os.Remove(filepath.Join(e.dir, "variables.tfcomponent.hcl")); err != nil {
		t.Fatal(err)
	}
	e.diskChanged("variables.tfcomponent.hcl")
	e.want(mainFile, "3:16 Unknown variable")
	if err := os.Remove(filepath.Join(e.dir, mainFile)); err != nil {
		t.Fatal(err)
	}
	e.diskChanged(mainFile)
	e.replace(mainFile, "var.region", "local.none")
	e.want(mainFile, "3:16 Unknown local value")
	e.close(mainFile)
	e.want(mainFile)
	if err := os.RemoveAll(e.dir); err != nil {
		t.Fatal(err)
	}
	e.openText(mainFile, "locals {\n")
	e.until(func() string {
		if len(e.shown(mainFile)) > 0 {
			return ""
		}
		return "nothing"
	}, "errors of the syntax in a directory that is gone")
}

// Requests and edits from several sides at the same time: all have answers.
func TestConcurrentRequests(t *testing.T) {
	e := open(t, shop)
	e.open(mainFile)
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for range 10 {
				at := protocol.TextDocumentPositionParams{TextDocument: e.document(mainFile), Position: protocol.Position{Line: 2, Character: 20}}
				if _, err := e.Completion(t.Context(), &protocol.CompletionParams{TextDocumentPositionParams: at}); err != nil {
					t.Error(err)
				}
				if _, err := e.Symbols(t.Context(), &protocol.WorkspaceSymbolParams{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 20 {
		e.replace(mainFile, "var.region", "var.regions")
		e.replace(mainFile, "var.regions", "var.region")
	}
	work.Wait()
	e.want(mainFile)
	e.leave()
}
