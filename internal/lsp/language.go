// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/cairnstacks/cairn/internal/lsp/language"
)

// kindOfCompletion is the kind under which editors show completions.
var kindOfCompletion = map[language.CompletionKind]protocol.CompletionItemKind{
	language.BlockCompletion:     protocol.CompletionItemKindStruct,
	language.ArgumentCompletion:  protocol.CompletionItemKindProperty,
	language.ReferenceCompletion: protocol.CompletionItemKindReference,
	language.FunctionCompletion:  protocol.CompletionItemKindFunction,
	language.KeywordCompletion:   protocol.CompletionItemKindKeyword,
	language.ValueCompletion:     protocol.CompletionItemKindValue,
	language.PathCompletion:      protocol.CompletionItemKindFolder,
}

// Completion implements [protocol.Server].
func (s *server) Completion(_ context.Context, params *protocol.CompletionParams) (protocol.CompletionResult, error) {
	list := &protocol.CompletionList{Items: []protocol.CompletionItem{}}
	p := s.at(params.TextDocument.URI)
	if p == nil {
		return list, nil
	}
	can := s.abilities()
	for i, completion := range p.Complete(p.path, p.text.Offset(params.Position)) {
		list.Items = append(list.Items, p.completionItem(i, completion, can))
	}
	return list, nil
}

func (p *place) completionItem(rank int, c language.Completion, can clientAbilities) protocol.CompletionItem {
	item := protocol.CompletionItem{
		Label: c.Label, Kind: kindOfCompletion[c.Kind],
		SortText:         protocol.NewOptional(fmt.Sprintf("%05d", rank)),
		InsertTextFormat: protocol.InsertTextFormatPlainText,
	}
	if c.Detail != "" {
		item.Detail = protocol.NewOptional(c.Detail)
	}
	if c.Doc != "" {
		item.Documentation = markdown(c.Doc)
	}
	text := c.Text
	switch {
	case c.Snippet && can.snippets:
		item.InsertTextFormat = protocol.InsertTextFormatSnippet
	case c.Snippet:
		text = withoutPlaceholders(text)
	}
	item.TextEdit = &protocol.TextEdit{Range: p.in(c.Replace), NewText: text}
	if c.Again && can.suggestsAgain {
		item.Command = protocol.Command{Title: "Suggest", Command: "editor.action.triggerSuggest"}
	}
	return item
}

// placeholder matches the placeholders of snippets, and escape sequences in them.
var placeholder = regexp.MustCompile(`\$\{\d+:([^}]*)\}|\$\{\d+\}|\$\d+|\\([$}\\])`)

// withoutPlaceholders returns the text of a snippet for clients that know none.
func withoutPlaceholders(snippet string) string { return placeholder.ReplaceAllString(snippet, "$1$2") }

// SignatureHelp implements [protocol.Server].
func (s *server) SignatureHelp(_ context.Context, params *protocol.SignatureHelpParams) (*protocol.SignatureHelp, error) {
	p := s.at(params.TextDocument.URI)
	if p == nil {
		return nil, nil //nolint:nilnil // null is a result
	}
	help := p.SignatureAt(p.path, p.text.Offset(params.Position))
	if help == nil {
		return nil, nil //nolint:nilnil // null is a result
	}
	label, places := help.Label()
	signature := protocol.SignatureInformation{Label: label}
	if help.Doc != "" {
		signature.Documentation = markdown(help.Doc)
	}
	for _, at := range places {
		signature.Parameters = append(signature.Parameters, protocol.ParameterInformation{
			Label: protocol.ParameterInformationLabelTuple{uint32(at[0]), uint32(at[1])}, //nolint:gosec // places in a line
		})
	}
	active := uint32(max(0, help.Active)) //nolint:gosec // a small number
	return &protocol.SignatureHelp{Signatures: []protocol.SignatureInformation{signature}, ActiveParameter: protocol.NewNullable(active)}, nil
}

// Hover implements [protocol.Server].
func (s *server) Hover(_ context.Context, params *protocol.HoverParams) (*protocol.Hover, error) {
	p := s.at(params.TextDocument.URI)
	if p == nil {
		return nil, nil //nolint:nilnil // null is a result
	}
	hover := p.Stack.Hover(p.path, p.text.Offset(params.Position))
	if hover == nil {
		return nil, nil //nolint:nilnil // null is a result
	}
	rng := p.in(hover.Range)
	return &protocol.Hover{Contents: markdown(hover.Text), Range: &rng}, nil
}

// Definition implements [protocol.Server].
func (s *server) Definition(_ context.Context, params *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
	p := s.at(params.TextDocument.URI)
	if p == nil {
		return protocol.LocationSlice{}, nil
	}
	return p.locations(p.Stack.Definition(p.path, p.text.Offset(params.Position))), nil
}

// References implements [protocol.Server].
func (s *server) References(_ context.Context, params *protocol.ReferenceParams) ([]protocol.Location, error) {
	locations := []protocol.Location{}
	p := s.at(params.TextDocument.URI)
	if p == nil {
		return locations, nil
	}
	known := map[protocol.Location]bool{}
	for _, p := range p.embedders() {
		for _, location := range p.locations(p.Stack.References(p.path, p.text.Offset(params.Position), params.Context.IncludeDeclaration)) {
			if !known[location] {
				known[location] = true
				locations = append(locations, location)
			}
		}
	}
	return locations, nil
}

// DocumentHighlight implements [protocol.Server].
func (s *server) DocumentHighlight(_ context.Context, params *protocol.DocumentHighlightParams) ([]protocol.DocumentHighlight, error) {
	highlights := []protocol.DocumentHighlight{}
	p := s.at(params.TextDocument.URI)
	if p == nil {
		return highlights, nil
	}
	for _, location := range p.Highlights(p.path, p.text.Offset(params.Position)) {
		highlights = append(highlights, protocol.DocumentHighlight{Range: p.in(location.Range)})
	}
	return highlights, nil
}

// PrepareRename implements [protocol.Server].
func (s *server) PrepareRename(_ context.Context, params *protocol.PrepareRenameParams) (protocol.PrepareRenameResult, error) {
	p := s.at(params.TextDocument.URI)
	if p == nil {
		return nil, nil //nolint:nilnil // null is a result
	}
	name, at, err := p.Stack.PrepareRename(p.path, p.text.Offset(params.Position))
	if err != nil {
		return nil, refusal(err)
	}
	return &protocol.PrepareRenamePlaceholder{Range: p.in(at), Placeholder: name}, nil
}

// Rename implements [protocol.Server].
func (s *server) Rename(ctx context.Context, params *protocol.RenameParams) (*protocol.WorkspaceEdit, error) {
	p := s.at(params.TextDocument.URI)
	if p == nil {
		return nil, nil //nolint:nilnil // null is a result
	}
	edit := &protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{}}
	note := ""
	for _, p := range p.embedders() {
		renaming, err := p.Stack.Rename(p.path, p.text.Offset(params.Position), params.NewName)
		if err != nil {
			return nil, refusal(err)
		}
		p.edits(edit.Changes, renaming.Edits)
		note = renaming.Note
	}
	if note != "" {
		if err := s.client.ShowMessage(ctx, &protocol.ShowMessageParams{Type: protocol.MessageTypeInfo, Message: note}); err != nil {
			s.log.Debug("message not shown", "error", err.Error())
		}
	}
	return edit, nil
}

// refusal returns why something is not renamed, as an error that editors show.
func refusal(err error) error {
	if known, ok := errors.AsType[*language.RenameError](err); ok {
		return jsonrpc2.NewError(jsonrpc2.Code(protocol.LSPErrorCodesRequestFailed), known.Reason)
	}
	return err
}

// CodeAction implements [protocol.Server].
func (s *server) CodeAction(_ context.Context, params *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	actions := []protocol.CommandOrCodeAction{}
	p := s.at(params.TextDocument.URI)
	if p == nil || !wanted(params.Context.Only, protocol.CodeActionKindQuickFix) {
		return actions, nil
	}
	kind := protocol.CodeActionKindQuickFix
	at := hcl.Range{Start: p.text.Pos(p.text.Offset(params.Range.Start)), End: p.text.Pos(p.text.Offset(params.Range.End))}
	var fixed []protocol.Diagnostic
	for _, action := range p.actions(at) {
		changes := map[uri.URI][]protocol.TextEdit{}
		p.edits(changes, action.Edits)
		var fixes []protocol.Diagnostic
		if action.Fixes != (hcl.Range{}) {
			fixes = fixedBy(params.Context.Diagnostics, p.in(action.Fixes))
		}
		fixed = append(fixed, fixes...)
		actions = append(actions, &protocol.CodeAction{
			Title: action.Title, Kind: &kind, Edit: &protocol.WorkspaceEdit{Changes: changes}, Diagnostics: fixes,
		})
	}
	for _, diag := range params.Context.Diagnostics {
		meant := meantBy(diag)
		if meant == "" || slices.ContainsFunc(fixed, func(other protocol.Diagnostic) bool { return sameDiagnostic(&diag, &other) }) {
			continue
		}
		edit := protocol.TextEdit{Range: diag.Range, NewText: meant}
		actions = append(actions, &protocol.CodeAction{
			Title: fmt.Sprintf("Change to %s", meant), Kind: &kind, Diagnostics: []protocol.Diagnostic{diag},
			Edit: &protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{params.TextDocument.URI: {edit}}},
		})
	}
	return actions, nil
}

// actions returns the changes that can be made in a range. The leftovers of the stack include those
// that the states of its embedders have.
func (p *place) actions(at hcl.Range) []language.Action {
	actions := p.Actions(p.path, at)
	for _, embedder := range p.embedders() {
		for _, left := range embedder.LeftOvers(p.path) {
			if !slices.ContainsFunc(actions, func(other language.Action) bool { return other.Title == left.Title }) {
				actions = append(actions, left)
			}
		}
	}
	return actions
}

// diagnosticData is the data of a diagnostic for programs, which the client gives back when it asks
// for actions.
type diagnosticData struct {
	Meant string `json:"meant"` // suggested replacement
}

// meantBy returns the suggested replacement of a diagnostic of this server, "" if it has none.
func meantBy(diag protocol.Diagnostic) string {
	var data diagnosticData
	if source, _ := diag.Source.Get(); source != "cairn" || len(diag.Data) == 0 {
		return ""
	}
	if err := json.Unmarshal(diag.Data, &data); err != nil {
		return "" // clients may give back anything
	}
	return data.Meant
}

// wanted reports whether actions of a kind are asked for: it, or one that it is part of.
func wanted(only []protocol.CodeActionKind, kind protocol.CodeActionKind) bool {
	for _, one := range only {
		if one == kind || strings.HasPrefix(string(kind), string(one)+".") {
			return true
		}
	}
	return len(only) == 0
}

// fixedBy returns the diagnostics about a place, or about more around it.
func fixedBy(diags []protocol.Diagnostic, at protocol.Range) []protocol.Diagnostic {
	var fixed []protocol.Diagnostic
	for _, diag := range diags {
		if source, _ := diag.Source.Get(); source == "cairn" && !before(at.Start, diag.Range.Start) && !before(diag.Range.End, at.End) {
			fixed = append(fixed, diag)
		}
	}
	return fixed
}

func before(a, b protocol.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Character < b.Character
}

// InlayHint implements [protocol.Server].
func (s *server) InlayHint(_ context.Context, params *protocol.InlayHintParams) ([]protocol.InlayHint, error) {
	hints := []protocol.InlayHint{}
	p := s.at(params.TextDocument.URI)
	if p == nil {
		return hints, nil
	}
	for _, hint := range p.Hints(p.path, p.text.Offset(params.Range.Start), p.text.Offset(params.Range.End)) {
		made := protocol.InlayHint{Position: p.text.Position(hint.At.Byte), Label: protocol.String(hint.Text), Kind: protocol.InlayHintKindType}
		if hint.Doc != "" {
			made.Tooltip = markdown(hint.Doc)
		}
		hints = append(hints, made)
	}
	return hints, nil
}

// CodeLens implements [protocol.Server]. Its commands do nothing: their titles are the information.
func (s *server) CodeLens(_ context.Context, params *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	lenses := []protocol.CodeLens{}
	p := s.at(params.TextDocument.URI)
	if p == nil {
		return lenses, nil
	}
	for _, lens := range p.Lenses(p.path) {
		if title := lensTitle(lens); title != "" {
			lenses = append(lenses, protocol.CodeLens{Range: p.in(lens.Range), Command: protocol.Command{Title: title}})
		}
	}
	return lenses, nil
}

func lensTitle(lens language.Lens) string {
	var parts []string
	for _, part := range []struct {
		what string
		of   []language.Dependency
	}{{"requires", lens.Requires}, {"required by", lens.Dependents}} {
		if len(part.of) > 0 {
			parts = append(parts, part.what+" "+names(part.of))
		}
	}
	return strings.Join(parts, " · ")
}

// names lists some of the names, and how many more there are.
func names(of []language.Dependency) string {
	const most = 4
	var list []string
	for i, dependency := range of {
		if i == most && len(of) > most+1 {
			list = append(list, fmt.Sprintf("and %d more", len(of)-most))
			break
		}
		list = append(list, dependency.Name)
	}
	return strings.Join(list, ", ")
}

// kindOfSymbol is the kind under which editors show a declaration.
var kindOfSymbol = map[language.Kind]protocol.SymbolKind{
	language.Variable: protocol.SymbolKindVariable, language.Local: protocol.SymbolKindConstant, language.Output: protocol.SymbolKindField,
	language.Component: protocol.SymbolKindModule, language.Call: protocol.SymbolKindPackage,
	language.Provider: protocol.SymbolKindInterface, language.Requirement: protocol.SymbolKindInterface,
}

// mostSymbols is the maximal number of symbols of a workspace in an answer.
const mostSymbols = 500

// Symbols implements [protocol.Server].
func (s *server) Symbols(ctx context.Context, params *protocol.WorkspaceSymbolParams) (protocol.WorkspaceSymbolResult, error) {
	symbols := protocol.SymbolInformationSlice{}
	known := map[protocol.Location]bool{}
	for _, dir := range s.workspace.Stacks() {
		about := s.answersAbout(dir)
		if about == nil {
			continue
		}
		for _, found := range about.Stack.Symbols(params.Query) {
			symbol := protocol.SymbolInformation{
				Location: protocol.Location{URI: s.uriOf(found.Path), Range: about.textOf(found.Path).Range(found.Range)},
			}
			if known[symbol.Location] {
				continue
			}
			known[symbol.Location] = true
			symbol.Name, symbol.Kind = found.Title, kindOfSymbol[found.Symbol.Kind]
			if symbol.Kind == 0 {
				symbol.Kind = protocol.SymbolKindObject
			}
			if symbols = append(symbols, symbol); len(symbols) == mostSymbols {
				return symbols, nil
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return symbols, nil
}
