// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostictext

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/internal/views/viewtest"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

const source = `component "db" {
  source = "./db"
  inputs = {
    size  = var.size + 1
    many  = element(var.list, var.map["k"].deep, component.x.id,
      local.secret, local.brief, local.nothing, var.obj, [for z in var.list : z])
    calls = element(tolist([]), 3)
  }
}
`

type extra struct{ address string }

func (e extra) Address() string { return e.address }

// fromEngine is the Extra of a diagnostic that the engine reported, wrapped.
type fromEngine struct{ extra }

func (fromEngine) UnwrapDiagnosticExtra() any { return reported{} }

type reported struct{}

func (reported) ResourceAddress() string { return "thing.x[0]" }
func (reported) BlockContext() string    { return `resource "thing" "x"` }
func (reported) ReferenceValues() map[string]string {
	return map[string]string{"var.b": "is 1", "var.a": "has a sensitive value"}
}

// attribute returns the expression of an input of the component in source.
func attribute(t *testing.T, file *hcl.File, name string) hcl.Expression {
	t.Helper()
	body := file.Body.(*hclsyntax.Body).Blocks[0].Body
	for _, item := range body.Attributes["inputs"].Expr.(*hclsyntax.ObjectConsExpr).Items {
		if key, _ := item.KeyExpr.Value(nil); key.AsString() == name {
			return item.ValueExpr
		}
	}
	t.Fatalf("no input %q", name)
	return nil
}

func evalContext() *hcl.EvalContext {
	return &hcl.EvalContext{
		Functions: map[string]function.Function{"element": stdlib.ElementFunc, "tolist": stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType))},
		Variables: map[string]cty.Value{
			"var": cty.ObjectVal(map[string]cty.Value{
				"size": cty.StringVal("big\n" + strings.Repeat("x", 300)),
				"list": cty.ListVal([]cty.Value{cty.StringVal("hidden-in-list").Mark(marks.Sensitive), cty.StringVal("b")}),
				"map":  cty.MapVal(map[string]cty.Value{"k": cty.ObjectVal(map[string]cty.Value{"deep": cty.NumberFloatVal(1.5)})}),
				"obj":  cty.EmptyObjectVal,
			}),
			"component": cty.ObjectVal(map[string]cty.Value{"x": cty.UnknownVal(cty.Map(cty.String))}),
			"local": cty.ObjectVal(map[string]cty.Value{
				"secret":  cty.StringVal("hunter2").Mark(marks.Sensitive),
				"brief":   cty.StringVal("fleeting").Mark(marks.Ephemeral),
				"nothing": cty.NullVal(cty.String),
			}),
		},
	}
}

func fixture(t *testing.T) (hcl.Diagnostics, diagnostic.Sources) {
	t.Helper()
	parser := hclparse.NewParser()
	file, diags := parser.ParseHCL([]byte(source), "main.tfcomponent.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	size, many := attribute(t, file, "size"), attribute(t, file, "many")
	_, found := size.Value(evalContext())
	_, foundInCall := attribute(t, file, "calls").Value(evalContext())
	list := hcl.Diagnostics{
		{
			Severity: hcl.DiagError, Summary: "Invalid element", Subject: many.Range().Ptr(), Expression: many, EvalContext: evalContext(),
			Detail: "The detail is a long sentence that has to be broken into several lines on a terminal of the usual width.\n\n  code that " +
				"stays on its line, however long it is, because it begins with a space\nEnd.",
			Extra: extra{`component.db["a"]`},
		},
		{Severity: hcl.DiagError, Summary: "No place", Detail: "Steers \x1b[31mthe terminal."},
		{Severity: hcl.DiagError, Summary: "No place", Detail: "Steers \x1b[31mthe terminal."},
		{Severity: hcl.DiagWarning, Summary: "Without detail", Extra: extra{"component.db"}},
		{
			Severity: hcl.DiagWarning, Summary: "Elsewhere", Detail: "In a module.", Extra: fromEngine{extra{"component.db"}},
			Subject: &hcl.Range{
				Filename: "modules/a/main.tf", Start: hcl.Pos{Line: 2, Column: 1, Byte: 5},
				End: hcl.Pos{Line: 2, Column: 1, Byte: 5},
			},
		},
		{
			Severity: hcl.DiagError, Summary: "Lost", Detail: "No source.",
			Subject: &hcl.Range{Filename: "nowhere.tf", Start: hcl.Pos{Line: 7, Column: 1, Byte: 99}, End: hcl.Pos{Line: 7, Column: 3, Byte: 101}},
		},
	}
	return append(list, append(found, foundInCall...)...), diagnostic.Sources{
		Files: parser.Files(),
		Lookup: func(name string) []byte {
			if name == "modules/a/main.tf" {
				return []byte("# é\nx = 1\ty")
			}
			return nil
		},
	}
}

func text(t *testing.T, list []diagnostic.Diagnostic, options Options) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, list, options); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	diags, sources := fixture(t)
	plain := text(t, diagnostic.All(diags, sources), Options{})
	viewtest.Golden(t, "diagnostics.txt", plain)

	colored := text(t, diagnostic.All(diags, sources), Options{Style: textstyle.Style{Color: true}})
	if want := "\x1b[4mvar.size\x1b[0m + 1"; !strings.Contains(colored, want) {
		t.Errorf("the coloured text does not underline the subject as %q:\n%s", want, colored)
	}
	unmarked := regexp.MustCompile(`(?m)^│\s+\^+\n`).ReplaceAllString(plain, "")
	if got := ansi.Strip(colored); got != unmarked || unmarked == plain {
		t.Errorf("without its colours the text differs from the plain one without its marks:\n%s", got)
	}
}

func TestJSON(t *testing.T) {
	diags, sources := fixture(t)
	doc, err := json.MarshalIndent(diagnostic.All(diags, sources), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	viewtest.Golden(t, "diagnostics.json", string(doc)+"\n")
}

func TestSecretsStayHidden(t *testing.T) {
	diags, sources := fixture(t)
	doc, err := json.Marshal(diagnostic.All(diags, sources))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter2", "fleeting", "hidden-in-list"} {
		if strings.Contains(string(doc), secret) || strings.Contains(text(t, diagnostic.All(diags, sources), Options{}), secret) {
			t.Errorf("%q is shown", secret)
		}
	}
}

func TestSnippetLiesInFile(t *testing.T) {
	content := []byte("a\r\n\tbé\x1b[0m = 1\n\nlast")
	lookup := diagnostic.Sources{Lookup: func(string) []byte { return content }}
	for start := 0; start <= len(content)+1; start++ {
		for end := start; end <= len(content)+2; end++ {
			rng := hcl.Range{Filename: "f", Start: hcl.Pos{Line: 1, Column: 1, Byte: start}, End: hcl.Pos{Line: 1, Column: 1, Byte: end}}
			d := diagnostic.New(&hcl.Diagnostic{Summary: "s", Subject: &rng}, lookup)
			s := d.Snippet
			if s == nil {
				if start <= len(content) {
					t.Fatalf("no snippet for bytes %d to %d", start, end)
				}
				continue
			}
			if s.HighlightStart < 0 || s.HighlightStart > s.HighlightEnd || s.HighlightEnd > len(s.Code) {
				t.Fatalf("bytes %d to %d: highlight %d to %d of %q", start, end, s.HighlightStart, s.HighlightEnd, s.Code)
			}
			text(t, []diagnostic.Diagnostic{d}, Options{Style: textstyle.Style{Color: true}})
		}
	}
}

// Many diagnostics about the same files look up each of them once, also missing ones.
func TestFilesAreReadOnce(t *testing.T) {
	read := map[string]int{}
	sources := diagnostic.Sources{Lookup: func(name string) []byte {
		read[name]++
		if name == "missing.hcl" {
			return nil
		}
		return []byte("component \"a\" {\n}\n")
	}}
	var diags hcl.Diagnostics
	for i := range 9 {
		for _, name := range []string{"a.hcl", "b.hcl", "missing.hcl"} {
			diags = diags.Append(&hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: strconv.Itoa(i), Subject: &hcl.Range{Filename: name, Start: hcl.Pos{Line: 1, Column: 11}},
			})
		}
	}
	for _, d := range diagnostic.All(diags, sources) {
		if known := d.Range.Filename != "missing.hcl"; known != (d.Snippet != nil) || known && *d.Snippet.Context != `component "a"` {
			t.Errorf("%s: the snippet is %+v", d.Range.Filename, d.Snippet)
		}
	}
	if want := map[string]int{"a.hcl": 1, "b.hcl": 1, "missing.hcl": 1}; !maps.Equal(read, want) {
		t.Errorf("files were read this often: %v, want %v", read, want)
	}
}

// most is the number of diagnostics that are shown at a time.
const most = 500

// Of very many diagnostics some are shown, errors rather than warnings.
func TestVeryMany(t *testing.T) {
	var diags hcl.Diagnostics
	for n := range 2 * most {
		severity := hcl.DiagWarning
		if n >= 2*most-10 {
			severity = hcl.DiagError
		}
		at := hcl.Pos{Line: n + 1, Column: 1, Byte: 2 * n}
		diags = append(diags, &hcl.Diagnostic{Severity: severity, Summary: "Problem", Subject: &hcl.Range{Filename: "f.hcl", Start: at, End: at}})
	}
	list := diagnostic.All(diags, diagnostic.Sources{Lookup: func(string) []byte { return []byte(strings.Repeat("#\n", 2*most)) }})
	errors := 0
	for _, d := range list[:most] {
		if d.Severity == "error" {
			errors++
		}
	}
	if last := list[most]; len(list) != most+1 || last.Severity != "warning" ||
		!strings.HasPrefix(last.Detail, "There are 500 more problems") {
		t.Errorf("%d are shown, and %q", len(list), last.Detail)
	}
	if errors != 10 || list[0].Range.Start.Line != 2*most-9 || list[most-1].Range.Start.Line != most-10 {
		t.Errorf("%d errors are shown, from line %d to %d", errors, list[0].Range.Start.Line, list[most-1].Range.Start.Line)
	}

	var b strings.Builder
	if err := Write(&b, diagnostic.All(diags[:2*most-10], diagnostic.Sources{}), Options{CompactWarnings: true}); err != nil {
		t.Fatal(err)
	}
	if want := "Warnings:\n\n- Problem\n  on f.hcl line 1 (and 499 more)\n- 490 more warnings, of these or other kinds\n"; b.String() != want {
		t.Errorf("compactly: %q, want %q", b.String(), want)
	}
}

// Few diagnostics stay in their order, for programs that get all.
func TestLimited(t *testing.T) {
	few := hcl.Diagnostics{
		{Severity: hcl.DiagWarning, Summary: "B"},
		{Severity: hcl.DiagError, Summary: "A"},
		{Severity: hcl.DiagWarning, Summary: "B"},
	}
	if got := diagnostic.Limited(few); !slices.Equal(got, few) {
		t.Errorf("few: %v", got)
	}
	var many hcl.Diagnostics
	for n := range 100_000 {
		many = append(many, &hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Problem",
			Subject: &hcl.Range{Filename: "f.hcl", Start: hcl.Pos{Byte: n, Line: n}},
		})
	}
	many = append(many, few[1])
	got := diagnostic.Limited(many)
	if last := got[len(got)-1]; len(got) != most+1 || got[0] != few[1] || !strings.HasPrefix(last.Detail, "There are 99501 more problems") {
		t.Errorf("of very many: %d, and %q", len(got), last.Detail)
	}
}
