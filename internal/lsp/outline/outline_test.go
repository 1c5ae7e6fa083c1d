// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package outline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/cairnstacks/cairn/internal/lsp/position"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

const sample = `# One comment
# in two lines

component "net" {
  source = "./net" # not alone
  for_each = toset(var.zones)
  inputs = {
    names = [for z in var.zones : "é😀${z}-${each.key}"]
    text  = <<-EOT
      a ${local.x}
      b
    EOT
  }
}

locals {
  x = component.net["a"].id == null ? 1.5 : 2
}

variable "zones" {
  type = set(object({ name = string }))
}

required_providers {
  aws = {
    source = "hashicorp/aws"
  }
}
`

func parse(src string) *File { return Parse("/s/main.tfcomponent.hcl", position.NewText([]byte(src))) }

func TestSymbols(t *testing.T) {
	var got []string
	var list func([]protocol.DocumentSymbol, string)
	list = func(symbols []protocol.DocumentSymbol, indent string) {
		for _, s := range symbols {
			detail := ""
			if s.Detail != nil {
				detail = " " + *s.Detail
			}
			got = append(got, fmt.Sprintf("%s%s%s %d-%d", indent, s.Name, detail, s.Range.Start.Line, s.Range.End.Line))
			list(s.Children, indent+"  ")
		}
	}
	list(parse(sample).Symbols(), "")
	want := []string{
		`component "net" ./net 3-13`, "  source 4-4", "  for_each 5-5", "  inputs 6-12", "locals 15-17", "  x 16-16",
		`variable "zones" 19-21`, "  type 20-20",
		"required_providers 23-27", "  aws 24-26",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("symbols (-want +got):\n%s", diff)
	}
}

func TestFolds(t *testing.T) {
	var got []string
	for _, fold := range parse(sample).Folds() {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d-%d %s", fold.StartLine, fold.EndLine, fold.Kind)))
	}
	if diff := cmp.Diff([]string{"0-1 comment", "3-12", "6-11", "8-10", "15-16", "19-20", "23-26", "24-25"}, got); diff != "" {
		t.Errorf("folds (-want +got):\n%s", diff)
	}
}

// colours decodes tokens: the text of each, with its type.
func colours(t *testing.T, f *File, data []uint32) []string {
	t.Helper()
	if len(data)%5 != 0 {
		t.Fatalf("there are %d numbers", len(data))
	}
	var all []string
	var pos protocol.Position
	for token := range slices.Chunk(data, 5) {
		if token[0] > 0 {
			pos.Character = 0
		}
		pos.Line += token[0]
		pos.Character += token[1]
		start, end := f.Text.Offset(pos), f.Text.Offset(protocol.Position{Line: pos.Line, Character: pos.Character + token[2]})
		text := string(f.Text.Bytes()[start:end])
		if got := len(utf16.Encode([]rune(text))); got != int(token[2]) {
			t.Errorf("a token at %v has the length %d, which is %q", pos, token[2], text)
		}
		modifier := ""
		if token[4]&declaration != 0 {
			modifier = " declaration"
		}
		all = append(all, TokenTypes[token[3]]+modifier+" "+text)
	}
	return all
}

func TestTokens(t *testing.T) {
	f := parse(sample)
	got := colours(t, f, f.Tokens(0, len(sample)))
	for _, want := range [][]string{
		{
			"comment # One comment", "comment # in two lines", "keyword component", "class declaration \"",
			"class declaration net", "class declaration \"", "property source", "string \"",
		},
		{"property for_each", "function toset", "namespace var", "variable zones"},
		{
			"keyword for", "parameter z", "keyword in", "namespace var", "variable zones", "operator :", "string \"",
			"string é😀", "operator ${", "parameter z", "operator }",
		},
		{"operator ${", "namespace each", "variable key", "operator }"},
		{"string <<-EOT"},
		{"namespace component", "variable net"},
		{"property id", "operator ==", "keyword null", "operator ?", "number 1.5", "operator :", "number 2"},
		{"property type", "type set", "type object", "property name", "type string"},
	} {
		if !containsRun(got, want) {
			t.Errorf("there is no run %q in:\n%s", want, strings.Join(got, "\n"))
		}
	}
	from, to := strings.Index(sample, "locals"), strings.Index(sample, "variable")
	part := colours(t, f, f.Tokens(from, to))
	if len(part) == 0 || part[0] != "keyword locals" || !containsRun(got, part) {
		t.Errorf("tokens of a range: %q", part)
	}
}

func containsRun(all, run []string) bool {
	for i := range all {
		if i+len(run) <= len(all) && slices.Equal(all[i:i+len(run)], run) {
			return true
		}
	}
	return false
}

func TestSelection(t *testing.T) {
	f := parse(sample)
	selection := f.Selection(strings.Index(sample, "each.key") + 1)
	var got []string
	for s := &selection; s != nil; s = s.Parent {
		text := string(f.Text.Bytes()[f.Text.Offset(s.Range.Start):f.Text.Offset(s.Range.End)])
		first, _, _ := strings.Cut(text, "\n")
		got = append(got, first)
	}
	if len(got) < 6 || got[0] != "each.key" || got[len(got)-1] != "# One comment" || got[len(got)-2] != `component "net" {` {
		t.Errorf("selections: %q", got)
	}
}

func TestFormat(t *testing.T) {
	for name, src := range map[string]string{
		"lines":     "locals {\nx=1\n  yyy = \"é\"   \n}\n",
		"CRLF":      "locals {\r\nx=1\r\n  yyy = \"é\"\r\n}\r\n",
		"no ending": "locals {\n   x=1\n}",
		"right":     "locals {\n  x = 1\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			f := parse(src)
			want, _, _ := safehcl.Format([]byte(src), "x")
			edits := f.Format(0, f.Text.Lines()-1)
			if name == "right" && len(edits) > 0 {
				t.Errorf("edits of what is right: %v", edits)
			}
			text := f.Text
			for _, edit := range slices.Backward(edits) {
				text = text.Replaced(edit.Range, edit.NewText)
			}
			if diff := cmp.Diff(string(want), string(text.Bytes())); diff != "" {
				t.Errorf("formatted (-want +got):\n%s", diff)
			}
		})
	}
	f := parse("locals {\nx=1\ny=2\n}\n")
	if edits := f.Format(1, 1); len(edits) != 1 || edits[0].NewText != "  x = 1" {
		t.Errorf("edits of one line: %v", edits)
	}
	if edits := parse("locals {\n x = \n}\n").Format(0, 9); edits != nil {
		t.Errorf("edits of a file with errors: %v", edits)
	}
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"net/outputs.tf", "net/main.tf", "child/x.tfcomponent.hcl"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src := "component \"a\" {\n  source = \"./net\"\n}\nstack \"b\" {\n  source = \"./child\"\n}\ncomponent \"c\" {\n" +
		"  source = \"./none\"\n}\nstack \"d\" {\n  path = \"net\"\n}\ncomponent \"e\" {\n  source = \"x/y/z\"\n}\n"
	f := Parse(filepath.Join(dir, "main.tfcomponent.hcl"), position.NewText([]byte(src)))
	var got []string
	for _, link := range f.Links() {
		rel, err := filepath.Rel(dir, link.Target)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %s", link.Range.Start.Line, filepath.ToSlash(rel)))
	}
	if diff := cmp.Diff([]string{"2 net/main.tf", "5 child/x.tfcomponent.hcl", "11 net/main.tf"}, got); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

// FuzzOutline asks everything of any text: nothing panics, and nothing lies outside of the text.
func FuzzOutline(f *testing.F) {
	f.Add(sample)
	f.Add(strings.ReplaceAll(sample, "\n", "\r\n"))
	for _, end := range []int{30, 60, 150, 200, 250} {
		f.Add(sample[:end])
	}
	f.Fuzz(func(t *testing.T, src string) { askAll(t, src) })
}

func TestEveryPrefix(t *testing.T) {
	for end := range len(sample) {
		askAll(t, sample[:end])
	}
}

func askAll(t *testing.T, src string) {
	t.Helper()
	f := parse(src)
	last := f.Text.Position(len(src))
	inside := func(rng protocol.Range) {
		t.Helper()
		if before(last, rng.End) || before(rng.End, rng.Start) {
			t.Errorf("the range %v is outside of the text, which ends at %v: %q", rng, last, src)
		}
	}
	var symbols func([]protocol.DocumentSymbol)
	symbols = func(list []protocol.DocumentSymbol) {
		for _, symbol := range list {
			inside(symbol.Range)
			inside(symbol.SelectionRange)
			if !within(symbol.SelectionRange, symbol.Range) {
				t.Errorf("the symbol %q at %v is selected at %v: %q", symbol.Name, symbol.Range, symbol.SelectionRange, src)
			}
			symbols(symbol.Children)
		}
	}
	symbols(f.Symbols())
	for _, fold := range f.Folds() {
		if fold.EndLine > last.Line || fold.EndLine <= fold.StartLine {
			t.Errorf("the fold %d-%d: %q", fold.StartLine, fold.EndLine, src)
		}
	}
	colours(t, f, f.Tokens(0, len(src)))
	for _, offset := range []int{0, len(src) / 2, len(src)} {
		selection := f.Selection(offset)
		for s := &selection; s != nil; s = s.Parent {
			inside(s.Range)
			if s.Parent != nil && !within(s.Range, s.Parent.Range) {
				t.Errorf("the selection %v is not within %v: %q", s.Range, s.Parent.Range, src)
			}
		}
	}
	for _, edit := range f.Format(0, f.Text.Lines()) {
		inside(edit.Range)
	}
}
