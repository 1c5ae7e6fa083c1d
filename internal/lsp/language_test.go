// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/cairnstacks/cairn/internal/lsp/position"
)

const shop = `
-- main.tfcomponent.hcl --
# "é😀" before a reference in the same line
locals {
  label = "😀${var.region}"
}

component "net" {
  source = "./net"
  inputs = { cidr = "10.0.0.0/8" }
}

component "app" {
  source = "./app"
  inputs = { net_id = component.net.id, name = local.label }
}

output "app" {
  type  = string
  value = component.app.url
}
-- variables.tfcomponent.hcl --
variable "region" {
  type        = string
  description = "Where it runs."
}
-- net/main.tf --
variable "cidr" {
  type = string
}
output "id" {
  value = var.cidr
}
-- app/main.tf --
variable "net_id" {
  type = string
}
variable "name" {
  type = string
}
output "url" {
  value = var.name
}
`

// in returns a place in a file: where | is in a piece of its text.
func (e *editor) in(name, piece string) protocol.TextDocumentPositionParams {
	e.t.Helper()
	before, after, found := strings.Cut(piece, "|")
	at := strings.Index(string(e.texts[name].Bytes()), before+after)
	if !found || at < 0 {
		e.t.Fatalf("%s has no %q", name, piece)
	}
	return protocol.TextDocumentPositionParams{TextDocument: e.document(name), Position: e.texts[name].Position(at + len(before))}
}

func (e *editor) labels(name, piece string) []string {
	e.t.Helper()
	result, err := e.Completion(e.t.Context(), &protocol.CompletionParams{TextDocumentPositionParams: e.in(name, piece)})
	e.check(err)
	var labels []string
	for _, item := range result.(*protocol.CompletionList).Items {
		labels = append(labels, item.Label)
	}
	return labels
}

const mainFile = "main.tfcomponent.hcl"

func TestCompletion(t *testing.T) {
	e := open(t, shop)
	e.open(mainFile)
	if labels := e.labels(mainFile, "component.net.|id"); !slices.Contains(labels, "id") {
		t.Errorf("behind component.net. there are %q", labels)
	}
	// While the file is broken, too, and behind characters that are two code units.
	e.replace(mainFile, `"😀${var.region}"`, `"😀${var.`)
	if labels := e.labels(mainFile, "😀${var.|"); !slices.Contains(labels, "region") {
		t.Errorf("behind var. there are %q", labels)
	}
	result, err := e.Completion(t.Context(), &protocol.CompletionParams{TextDocumentPositionParams: e.in(mainFile, "😀${var.|")})
	e.check(err)
	items := result.(*protocol.CompletionList).Items
	at := slices.IndexFunc(items, func(item protocol.CompletionItem) bool { return item.Label == "region" })
	edit := items[at].TextEdit.(*protocol.TextEdit)
	if got := string(e.texts[mainFile].Replaced(edit.Range, edit.NewText).Bytes()); !strings.Contains(got, "😀${var.region") {
		t.Errorf("with the completion the text is %q", got)
	}
	if labels := e.labels(mainFile, "|component \"net\""); !slices.Contains(labels, `variable "NAME"`) {
		t.Errorf("outside of blocks there are %q", labels)
	}
}

func TestSnippetsWithoutClient(t *testing.T) {
	for snippet, want := range map[string]string{
		`component "${1:NAME}" {` + "\n  $0\n}": `component "NAME" {` + "\n  \n}",
		`\$${1}x\}`:                             "$x}",
		"plain":                                 "plain",
	} {
		if got := withoutPlaceholders(snippet); got != want {
			t.Errorf("withoutPlaceholders(%q) = %q, want %q", snippet, got, want)
		}
	}
}

func TestSignatureHelp(t *testing.T) {
	e := open(t, shop)
	e.open(mainFile)
	e.replace(mainFile, "local.label }", `join(",", [local.label]) }`)
	help, err := e.SignatureHelp(t.Context(), &protocol.SignatureHelpParams{TextDocumentPositionParams: e.in(mainFile, `join(",", |[`)})
	e.check(err)
	if help == nil || len(help.Signatures) != 1 || !strings.HasPrefix(help.Signatures[0].Label, "join(") {
		t.Fatalf("help: %+v", help)
	}
	if active, _ := help.ActiveParameter.Get(); active != 1 {
		t.Errorf("the active parameter is %d, want 1", active)
	}
	place := help.Signatures[0].Parameters[0].Label.(protocol.ParameterInformationLabelTuple)
	if label := help.Signatures[0].Label[place[0]:place[1]]; !strings.Contains(label, "separator") {
		t.Errorf("the first parameter is %q", label)
	}
}

func TestHover(t *testing.T) {
	e := open(t, shop)
	e.open(mainFile)
	hover, err := e.Hover(t.Context(), &protocol.HoverParams{TextDocumentPositionParams: e.in(mainFile, "var.re|gion")})
	e.check(err)
	if hover == nil || !strings.Contains(hover.Contents.(*protocol.MarkupContent).Value, "Where it runs.") ||
		!strings.Contains(e.text(mainFile, *hover.Range), "region") {
		t.Errorf("hover: %+v", hover)
	}
}

// text returns the text in a range of an open file.
func (e *editor) text(name string, rng protocol.Range) string {
	text := e.texts[name]
	return string(text.Bytes()[text.Offset(rng.Start):text.Offset(rng.End)])
}

// places returns locations in short, with the text in files that are open.
func (e *editor) places(locations []protocol.Location) []string {
	var all []string
	for _, location := range locations {
		name := strings.TrimPrefix(string(location.URI), string(e.uri(""))+"/")
		all = append(all, fmt.Sprintf("%s:%d", name, location.Range.Start.Line+1))
	}
	slices.Sort(all)
	return all
}

func TestDefinitionAndReferences(t *testing.T) {
	e := open(t, shop)
	e.open(mainFile)
	for piece, want := range map[string]string{
		"var.re|gion":              "variables.tfcomponent.hcl:1",
		"component.net.i|d":        "net/main.tf:4",
		"component.n|et.id":        "main.tfcomponent.hcl:6",
		`source = "./|net"`:        "net/main.tf:1",
		`inputs = { ci|dr`:         "net/main.tf:1",
		"local.la|bel":             "main.tfcomponent.hcl:3",
		"# \"é😀\" before a |refer": "",
	} {
		result, err := e.Definition(t.Context(), &protocol.DefinitionParams{TextDocumentPositionParams: e.in(mainFile, piece)})
		e.check(err)
		locations, _ := result.(protocol.LocationSlice)
		if got := strings.Join(e.places(locations), " "); got != want {
			t.Errorf("%s is declared at %q, want %q", piece, got, want)
		}
	}
	references, err := e.References(t.Context(), &protocol.ReferenceParams{
		TextDocumentPositionParams: e.in(mainFile, "component \"n|et\""), Context: protocol.ReferenceContext{IncludeDeclaration: true},
	})
	e.check(err)
	if got := e.places(references); !slices.Equal(got, []string{"main.tfcomponent.hcl:13", "main.tfcomponent.hcl:6"}) {
		t.Errorf("references: %q", got)
	}
	highlights, err := e.DocumentHighlight(t.Context(), &protocol.DocumentHighlightParams{
		TextDocumentPositionParams: e.in(mainFile, "local.la|bel"),
	})
	e.check(err)
	if len(highlights) != 2 || e.text(mainFile, highlights[0].Range) != "label" {
		t.Errorf("highlights: %v", highlights)
	}
}

func (e *editor) rename(name, piece, to string) map[string]string {
	e.t.Helper()
	at := e.in(name, piece)
	edit, err := e.Rename(e.t.Context(), &protocol.RenameParams{TextDocumentPositionParams: at, NewName: to})
	e.check(err)
	return e.applied(edit)
}

// applied returns the texts of open files after an edit.
func (e *editor) applied(edit *protocol.WorkspaceEdit) map[string]string {
	after := map[string]string{}
	for u, edits := range edit.Changes {
		name := strings.TrimPrefix(string(u), string(e.uri(""))+"/")
		text := e.texts[name]
		if text == nil {
			e.t.Fatalf("%s is edited, which is not open: %+v", name, edits)
		}
		slices.SortFunc(edits, func(a, b protocol.TextEdit) int { return text.Offset(b.Range.Start) - text.Offset(a.Range.Start) })
		for _, edit := range edits {
			text = text.Replaced(edit.Range, edit.NewText)
		}
		after[name] = string(text.Bytes())
	}
	return after
}

func TestRename(t *testing.T) {
	e := open(t, shop)
	e.open(mainFile)
	e.open("variables.tfcomponent.hcl")
	after := e.rename(mainFile, "var.re|gion", "zone")
	if !strings.Contains(after[mainFile], "😀${var.zone}") || !strings.Contains(after["variables.tfcomponent.hcl"], `variable "zone"`) {
		t.Errorf("renamed: %q", after)
	}
	prepared, err := e.PrepareRename(t.Context(), &protocol.PrepareRenameParams{TextDocumentPositionParams: e.in(mainFile, "var.re|gion")})
	e.check(err)
	if placeholder, ok := prepared.(*protocol.PrepareRenamePlaceholder); !ok || placeholder.Placeholder != "region" {
		t.Errorf("prepared: %+v", prepared)
	}
	_, err = e.Rename(t.Context(), &protocol.RenameParams{TextDocumentPositionParams: e.in(mainFile, "var.re|gion"), NewName: "not a name"})
	if err == nil || code(err) != -32803 {
		t.Errorf("a name that is none: %v", err)
	}
}

// A variable of a stack is renamed in the stacks that embed it.
func TestRenameInEmbedders(t *testing.T) {
	e := open(t, `
-- root/main.tfcomponent.hcl --
stack "a" {
  source = "../child"
  inputs = { name = "x" }
}
-- child/main.tfcomponent.hcl --
variable "name" {
  type = string
}
`)
	e.open("child/main.tfcomponent.hcl")
	e.texts["root/main.tfcomponent.hcl"] = position.NewText([]byte("stack \"a\" {\n  source = \"../child\"\n  inputs = { name = \"x\" }\n}\n"))
	after := e.rename("child/main.tfcomponent.hcl", `"na|me"`, "title")
	if !strings.Contains(after["root/main.tfcomponent.hcl"], "{ title = ") ||
		!strings.Contains(after["child/main.tfcomponent.hcl"], `"title"`) {
		t.Errorf("renamed: %q", after)
	}
}

func TestCodeActions(t *testing.T) {
	e := open(t, shop)
	e.open(mainFile)
	e.open("variables.tfcomponent.hcl")
	e.replace(mainFile, "var.region", "var.regiom")
	e.want(mainFile, "3:16 Unknown variable")
	diag := e.last(mainFile).Diagnostics[0]
	ask := &protocol.CodeActionParams{
		TextDocument: e.document(mainFile), Range: diag.Range, Context: protocol.CodeActionContext{Diagnostics: []protocol.Diagnostic{diag}},
	}
	actions, err := e.CodeAction(t.Context(), ask)
	e.check(err)
	fixed := false
	for _, action := range actions {
		action := action.(*protocol.CodeAction)
		fixed = fixed || strings.Contains(e.applied(action.Edit)[mainFile], "😀${var.region}")
		if action.Title == "" || action.Kind == nil || *action.Kind != protocol.CodeActionKindQuickFix {
			t.Errorf("action: %+v", action)
		}
	}
	if !fixed || len(actions) != 2 { // the other one declares the variable
		t.Errorf("the actions are %+v", actions)
	}
	ask.Context.Only = []protocol.CodeActionKind{protocol.CodeActionKindRefactor}
	if actions, err := e.CodeAction(t.Context(), ask); err != nil || len(actions) > 0 {
		t.Errorf("of another kind: %v, %v", actions, err)
	}
}

func TestHintsAndLenses(t *testing.T) {
	e := open(t, shop)
	e.open(mainFile)
	hints, err := e.InlayHint(t.Context(), &protocol.InlayHintParams{
		TextDocument: e.document(mainFile), Range: e.texts[mainFile].Span(0, len(e.texts[mainFile].Bytes())),
	})
	e.check(err)
	if len(hints) == 0 {
		t.Error("there are no hints")
	}
	lenses, err := e.CodeLens(t.Context(), &protocol.CodeLensParams{TextDocument: e.document(mainFile)})
	e.check(err)
	var titles []string
	for _, lens := range lenses {
		titles = append(titles, e.text(mainFile, lens.Range)+" "+lens.Command.Title)
	}
	slices.Sort(titles)
	if want := []string{"app requires net", "net required by app"}; !slices.Equal(titles, want) {
		t.Errorf("lenses: %q, want %q", titles, want)
	}
}

func TestWorkspaceSymbols(t *testing.T) {
	e := open(t, shop)
	result, err := e.Symbols(t.Context(), &protocol.WorkspaceSymbolParams{Query: "app"})
	e.check(err)
	var got []string
	for _, symbol := range result.(protocol.SymbolInformationSlice) {
		got = append(got, fmt.Sprintf("%s %s", symbol.Name, e.places([]protocol.Location{symbol.Location})))
	}
	slices.Sort(got)
	if len(got) != 2 || !strings.Contains(got[0], "main.tfcomponent.hcl:11") || !strings.Contains(got[1], "main.tfcomponent.hcl:16") {
		t.Errorf("symbols: %q", got)
	}
}
