// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostictext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
)

// parse returns the diagnostics of a file in native or JSON syntax.
func parse(source, filename string) (hcl.Diagnostics, diagnostic.Sources) {
	parser := hclparse.NewParser()
	var diags hcl.Diagnostics
	if strings.HasSuffix(filename, ".json") {
		_, diags = parser.ParseJSON([]byte(source), filename)
	} else {
		_, diags = parser.ParseHCL([]byte(source), filename)
	}
	return diags, diagnostic.Sources{Files: parser.Files()}
}

// code returns the lines of the text of a diagnostic that show code.
func code(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "│   "); ok && !strings.HasPrefix(line, "on ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestSyntaxErrorsAtTheEndOfFiles(t *testing.T) {
	tests := map[string]struct {
		filename, source string
		want             string
	}{
		"unclosed parenthesis":      {"f.hcl", "a = (\n", " 1: a = (\n 2:"},
		"unclosed list":             {"f.hcl", "locals {\n a = [1,\n", " 2:  a = [1,\n 3:"},
		"unclosed list, CRLF":       {"f.hcl", "locals {\r\n a = [1,\r\n", " 2:  a = [1,\n 3:"},
		"unclosed JSON object":      {"f.json", "{\n", " 1: {"},
		"unclosed block":            {"f.hcl", "locals {\n", " 1: locals {\n           ^"},
		"no line feed at the end":   {"f.hcl", "a =", " 1: a =\n       ^"},
		"empty JSON":                {"f.json", "", " 1:"},
		"behind many bytes a glyph": {"f.hcl", "é = \"日本\" 1\n", " 1: é = \"日本\" 1\n               ^"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			diags, sources := parse(test.source, test.filename)
			if !diags.HasErrors() {
				t.Fatalf("%q has no errors", test.source)
			}
			list := diagnostic.All(diags, sources)
			if diff := cmp.Diff(test.want, code(text(t, list[:1], Options{}))); diff != "" {
				t.Errorf("code of %v (-want +got):\n%s", diags[0], diff)
			}
		})
	}
}

func TestOneLineWithTwoDiagnostics(t *testing.T) {
	content := []byte("\tdepends_on = [one, two]\n")
	at := func(start, end int) *hcl.Range {
		return &hcl.Range{
			Filename: "f", Start: hcl.Pos{Line: 1, Column: start + 1, Byte: start}, End: hcl.Pos{Line: 1, Column: end + 1, Byte: end},
		}
	}
	got := text(t, diagnostic.All(hcl.Diagnostics{
		{Severity: hcl.DiagError, Summary: "Invalid reference", Subject: at(15, 18)},
		{Severity: hcl.DiagError, Summary: "Invalid reference", Subject: at(20, 23)},
		{Severity: hcl.DiagError, Summary: "Invalid argument", Subject: at(1, 24)},
	}, diagnostic.Sources{Lookup: func(string) []byte { return content }}), Options{})
	want := " 1: \tdepends_on = [one, two]\n" + // the whole line needs no mark
		" 1: \tdepends_on = [one, two]\n    \t              ^^^\n" +
		" 1: \tdepends_on = [one, two]\n    \t                   ^^^"
	if diff := cmp.Diff(want, code(got)); diff != "" {
		t.Errorf("code (-want +got):\n%s", diff)
	}
}

// FuzzSnippet tries any ranges in any sources, known by their syntax or not.
func FuzzSnippet(f *testing.F) {
	for _, source := range []string{
		"", "\n", "a = (\n", "locals {\n a = [1,\n", "{\n", "{\"a\": [\n", "a = 1\r\nb = \"é日本\"\r\n", "last", "\xff\xfe\x1b[0m\n\x80",
		"a \"b\" {\n  c = 1\n}\n",
	} {
		n := len(source)
		f.Add(source, n, n, 1, 1, 0, n)
		f.Add(source, n+1, n+2, 2, 2, -1, n+1)
		f.Add(source, n, 0, 1, 3, n, 0)
		f.Add(source, n/2, n+1, 1, 2, 0, 1)
		f.Add(source, -1, n, 0, 0, 0, 0)
	}
	f.Fuzz(func(t *testing.T, source string, start, end, startLine, endLine, contextStart, contextEnd int) {
		for _, name := range []string{"f.hcl", "f.json", "lookup.hcl", "lookup.json"} {
			found, sources := parse(source, name)
			if strings.HasPrefix(name, "lookup") {
				sources = diagnostic.Sources{Lookup: func(string) []byte { return []byte(source) }}
			}
			rangeOf := func(start, end int) *hcl.Range {
				return &hcl.Range{
					Filename: name, Start: hcl.Pos{Line: startLine, Column: 1, Byte: start}, End: hcl.Pos{Line: endLine, Column: 1, Byte: end},
				}
			}
			diags := append(found,
				&hcl.Diagnostic{Summary: "Without context", Subject: rangeOf(start, end)},
				&hcl.Diagnostic{Summary: "With context", Subject: rangeOf(start, end), Context: rangeOf(contextStart, contextEnd)})
			for _, d := range diagnostic.All(diags, sources) {
				checkSnippet(t, d, source)
			}
		}
	})
}

func checkSnippet(t *testing.T, d diagnostic.Diagnostic, source string) {
	t.Helper()
	for _, style := range []textstyle.Style{{}, {Color: true}} {
		if got := text(t, []diagnostic.Diagnostic{d}, Options{Style: style}); !strings.Contains(got, d.Summary) {
			t.Fatalf("the text does not contain the summary %q:\n%s", d.Summary, got)
		}
	}
	if doc, err := json.Marshal(d); err != nil || len(doc) == 0 {
		t.Fatalf("the JSON of %#v is %q, with error %v", d, doc, err)
	}
	s := d.Snippet
	switch {
	case s == nil && d.Range.Start.Byte <= len(source):
		t.Fatalf("no snippet of %q for %v", source, d.Range)
	case s == nil:
		return
	case s.HighlightStart < 0 || s.HighlightStart > s.HighlightEnd || s.HighlightEnd > len(s.Code):
		t.Fatalf("highlight %d to %d of %q", s.HighlightStart, s.HighlightEnd, s.Code)
	case s.StartLine < 1 || s.StartLine > 1+strings.Count(source, "\n"):
		t.Fatalf("the snippet of %q begins on line %d", source, s.StartLine)
	case utf8.ValidString(source) && !utf8.ValidString(s.Code[s.HighlightStart:s.HighlightEnd]):
		t.Fatalf("the highlight splits a character: %q of %q", s.Code[s.HighlightStart:s.HighlightEnd], s.Code)
	}
}

// Ranges of formats that are not HCL have lines and columns only.
func TestRangesWithoutBytes(t *testing.T) {
	sources := diagnostic.Sources{Lookup: func(string) []byte { return []byte("first: 1\nsécond: [a, b]\n") }}
	for name, test := range map[string]struct {
		start, end hcl.Pos
		want       string
	}{
		"one place":            {hcl.Pos{Line: 2, Column: 1}, hcl.Pos{Line: 2, Column: 1}, " 2: sécond: [a, b]\n    ^"},
		"behind a wide letter": {hcl.Pos{Line: 2, Column: 9}, hcl.Pos{Line: 2, Column: 15}, " 2: sécond: [a, b]\n            ^^^^^^"},
		"first line":           {hcl.Pos{Line: 1, Column: 8}, hcl.Pos{Line: 1, Column: 9}, " 1: first: 1\n           ^"},
		"behind the end":       {hcl.Pos{Line: 9, Column: 1}, hcl.Pos{Line: 9, Column: 1}, " 2: sécond: [a, b]\n 3:"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			diag := &hcl.Diagnostic{Summary: "Wrong", Subject: &hcl.Range{Filename: "f.yml", Start: test.start, End: test.end}}
			if err := Write(&b, []diagnostic.Diagnostic{diagnostic.New(diag, sources)}, Options{}); err != nil {
				t.Fatal(err)
			}
			if got := code(b.String()); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// Lines of any length are shown around the highlighted code, and a diagnostic about a whole file
// shows none of it.
func TestLongLines(t *testing.T) {
	source := "a = \"" + strings.Repeat("x", 1<<20) + "\" b é\n"
	at := strings.Index(source, "b")
	subject := hcl.Range{
		Filename: "f.yml", Start: hcl.Pos{Line: 1, Column: at + 1, Byte: at},
		End: hcl.Pos{Line: 1, Column: at + 2, Byte: at + 1},
	}
	sources := diagnostic.Sources{Lookup: func(string) []byte { return []byte(source) }}
	s := diagnostic.New(&hcl.Diagnostic{Subject: &subject}, sources).Snippet
	if s == nil || len(s.Code) > 1000 || s.Code[s.HighlightStart:s.HighlightEnd] != "b" || !strings.HasSuffix(s.Code, "b é") {
		t.Errorf("got %.100v", s)
	}
	whole := hcl.Range{Filename: "f\n\x1b.yml"}
	d := diagnostic.New(&hcl.Diagnostic{Summary: "Too large", Detail: strings.Repeat("é", 1<<20), Subject: &whole}, sources)
	var b strings.Builder
	if err := Write(&b, []diagnostic.Diagnostic{d}, Options{Width: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	want := "╷\n│ Error: Too large\n│\n│   on f␊␛.yml\n│\n│ éé"
	if text := b.String(); d.Snippet != nil || !strings.HasPrefix(text, want) || len(text) > 100<<10 {
		t.Errorf("%d bytes:\n%.200s\nwant\n%s", len(text), text, want)
	}
}

// On a narrow terminal no line leaves the box: the place breaks between words, and code anywhere.
func TestNarrowTerminal(t *testing.T) {
	content := "check \"enough_room_in_subnets\" {\n  condition = tonumber(var.prefix) <= 1666\n}\n"
	at := strings.Index(content, "1666")
	diags := hcl.Diagnostics{{
		Severity: hcl.DiagError, Summary: "Invalid condition", Detail: "This is never true.",
		Subject: &hcl.Range{
			Filename: "network/main.tf", Start: hcl.Pos{Line: 2, Column: 39, Byte: at},
			End: hcl.Pos{Line: 2, Column: 43, Byte: at + 4},
		},
	}}
	sources := diagnostic.Sources{Files: map[string]*hcl.File{"network/main.tf": {Bytes: []byte(content)}}}
	list := diagnostic.All(diags, sources)
	list[0].Address = "component.network"
	list[0].Resource = "terraform_data.subnet"
	context := `check "enough_room_in_subnets"`
	list[0].Snippet.Context = &context
	want := `╷
│ Error: Invalid condition
│
│   with terraform_data.subnet in
│   component.network,
│   on network/main.tf line 2, in
│   check "enough_room_in_subnets":
│    2:   condition = tonumber(var.p
│       refix) <= 1666
│                 ^^^^
│
│ This is never true.
╵
`
	if diff := cmp.Diff(want, text(t, list, Options{Width: 36})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Highlighted code may be cut, too: each piece has its carets.
func TestCaretsOfWrappedLines(t *testing.T) {
	content := "  condition = alltrue([for zone in var.zones : length(zone) > 3])\n"
	sources := diagnostic.Sources{Files: map[string]*hcl.File{"main.tf": {Bytes: []byte(content)}}}
	at := func(n int) hcl.Pos { return hcl.Pos{Line: 1, Column: n + 1, Byte: n} }
	expr := strings.Index(content, "alltrue")
	for name, test := range map[string]struct {
		start, end int
		want       string
	}{
		"over three pieces": {expr, len(content) - 1, `
 1:   condition = alltrue([fo
                  ^^^^^^^^^^^
    r zone in var.zones : len
    ^^^^^^^^^^^^^^^^^^^^^^^^^
    gth(zone) > 3])
    ^^^^^^^^^^^^^^^`},
		"a whole piece": {50, len(content) - 1, `
 1:   condition = alltrue([fo
    r zone in var.zones : len
    gth(zone) > 3])
    ^^^^^^^^^^^^^^^`},
		"a place where a piece begins": {25, 25, `
 1:   condition = alltrue([fo
    r zone in var.zones : len
    ^
    gth(zone) > 3])`},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			diag := &hcl.Diagnostic{Summary: "Wrong", Subject: &hcl.Range{Filename: "main.tf", Start: at(test.start), End: at(test.end)}}
			if err := Write(&b, []diagnostic.Diagnostic{diagnostic.New(diag, sources)}, Options{Width: 33}); err != nil {
				t.Fatal(err)
			}
			if got := "\n" + code(b.String()); got != test.want {
				t.Errorf("got%s\nwant%s", got, test.want)
			}
		})
	}
}

// Of a summary of several lines, each is in the box: engines make a whole text of some.
func TestSummaryOfSeveralLines(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, []diagnostic.Diagnostic{{Severity: "error", Summary: "problems, including\n\nthese", Detail: "More."}},
		Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "╷\n│ Error: problems, including\n│\n│ these\n│\n│ More.\n╵\n"; got != want {
		t.Errorf("Write() = %q, want %q", got, want)
	}
}

// Warnings alone can be listed, each kind once; with errors they are shown as ever.
func TestCompactWarnings(t *testing.T) {
	at := func(line int) *diagnostic.Range {
		return &diagnostic.Range{Filename: "main.tf", Start: diagnostic.Pos{Line: line}}
	}
	list := []diagnostic.Diagnostic{
		{Severity: "warning", Summary: "Old", Detail: "Use the new one.", Range: at(3)},
		{Severity: "warning", Summary: "Odd", Address: "component.a"},
		{Severity: "warning", Summary: "Old", Detail: "Use the new one.", Range: at(7)},
	}
	write := func(list []diagnostic.Diagnostic) string {
		var b strings.Builder
		if err := Write(&b, list, Options{CompactWarnings: true}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got, want := write(list), "Warnings:\n\n- Old\n  on main.tf line 3 (and 1 more)\n- Odd\n  with component.a\n"; got != want {
		t.Errorf("Write() = %q, want %q", got, want)
	}
	if got := write(append(list, diagnostic.Diagnostic{Severity: "error", Summary: "Wrong"})); !strings.Contains(got, "Use the new one.") ||
		strings.Contains(got, "Warnings:") {
		t.Errorf("Write() = %q with an error, want all of it", got)
	}
	if got := write(nil); got != "" {
		t.Errorf("Write() = %q without diagnostics", got)
	}
}
