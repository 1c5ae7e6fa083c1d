// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func evaluateValue(t testing.TB, scope *hcl.EvalContext, source string) cty.Value {
	t.Helper()
	value, diags := parseExpression(t, source).Value(scope)
	if diags.HasErrors() {
		t.Fatalf("%s: %s", source, diags)
	}
	return value
}

// Rule L4, for every impure function by both names, alone and inside templates.
func TestImpureFunctionsByPhase(t *testing.T) {
	variables := map[string]cty.Value{
		"secret":   cty.StringVal("x").Mark(marks.Sensitive),
		"template": cty.StringVal("${uuid()}"),
	}
	planning := &hcl.EvalContext{Functions: Functions(Options{PureOnly: true}), Variables: variables}
	applying := &hcl.EvalContext{Functions: Functions(Options{}), Variables: variables}

	for _, call := range []string{
		`uuid()`, `core::uuid()`, `timestamp()`, `core::timestamp()`, `bcrypt("x", 4)`, `core::bcrypt("x", 4)`,
		`templatestring(template, {})`,
	} {
		t.Run(call, func(t *testing.T) {
			planned := evaluateValue(t, planning, call)
			if planned.IsKnown() || planned.Type() != cty.String {
				t.Errorf("with PureOnly: got %#v, want an unknown string", planned)
			}
			if applied := evaluateValue(t, applying, call); !applied.IsKnown() || applied.AsString() == "" {
				t.Errorf("without PureOnly: got %#v, want a known string", applied)
			}
		})
	}

	if got := evaluateValue(t, planning, `bcrypt(secret)`); got.IsMarked() != true || !marks.Has(got, marks.Sensitive) {
		t.Errorf("bcrypt of a sensitive value with PureOnly: got %#v, want it sensitive", got)
	}
	if got := evaluateValue(t, applying, `uuid() == uuid()`); got.True() {
		t.Error("two calls of uuid gave the same value")
	}
}

func TestPlanTimestamp(t *testing.T) {
	inOslo := time.Date(2024, 5, 6, 1, 2, 3, 456, time.FixedZone("Oslo", 2*60*60))
	for _, pure := range []bool{true, false} {
		scope := &hcl.EvalContext{Functions: Functions(Options{PlanTimestamp: inOslo, PureOnly: pure})}
		for _, call := range []string{`plantimestamp()`, `core::plantimestamp()`} {
			got, want := evaluateValue(t, scope, call), cty.StringVal("2024-05-05T23:02:03Z")
			if !got.RawEquals(want) {
				t.Errorf("%s with PureOnly %t: got %#v, want %#v", call, pure, got, want)
			}
		}
	}
	scope := &hcl.EvalContext{Functions: Functions(Options{})}
	got, want := evaluateValue(t, scope, `plantimestamp()`), cty.UnknownVal(cty.String).RefineNotNull()
	if !got.RawEquals(want) {
		t.Errorf("plantimestamp without a time of the plan: got %#v, want %#v", got, want)
	}
}

// Relative paths start from the base directory, whatever the directory of the process.
func TestFilesAreRelativeToBaseDir(t *testing.T) {
	base, elsewhere := t.TempDir(), t.TempDir()
	for path, content := range map[string]string{"data.txt": "data", "greet.tftpl": "Hello ${name}", "sub/x.json": "{}"} {
		full := filepath.Join(base, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(elsewhere)
	calls := map[string]cty.Value{
		`file("data.txt")`:                              cty.StringVal("data"),
		`filebase64("data.txt")`:                        cty.StringVal("ZGF0YQ=="),
		`filemd5("data.txt") == md5("data")`:            cty.True,
		`fileexists("data.txt")`:                        cty.True,
		`fileexists("../data.txt")`:                     cty.False,
		`fileset(".", "**/*.json")`:                     cty.SetVal([]cty.Value{cty.StringVal("sub/x.json")}),
		`templatefile("greet.tftpl", { name = "you" })`: cty.StringVal("Hello you"),
		`abspath("data.txt")`:                           cty.StringVal(filepath.ToSlash(filepath.Join(base, "data.txt"))),
	}
	scope := &hcl.EvalContext{Functions: Functions(Options{BaseDir: base})}
	for call, want := range calls {
		if got := evaluateValue(t, scope, call); !got.RawEquals(want) {
			t.Errorf("%s = %#v, want %#v", call, got, want)
		}
	}

	t.Chdir(base)
	scope = &hcl.EvalContext{Functions: Functions(Options{})}
	if got := evaluateValue(t, scope, `file("data.txt")`); !got.RawEquals(cty.StringVal("data")) {
		t.Errorf("without a base directory: got %#v, want the content of the file in the current directory", got)
	}
}

// Rule L1: a change of one table does not reach another.
func TestTablesAreSeparate(t *testing.T) {
	first := Functions(Options{})
	clear(first)
	if second := Functions(Options{}); len(second) != 238 {
		t.Errorf("the second table has %d functions, want 238", len(second))
	}
}

func TestCoreNamesAreAliases(t *testing.T) {
	table := Functions(Options{})
	for name := range table {
		if plain, isCore := strings.CutPrefix(name, corePrefix); isCore {
			if _, exists := table[plain]; !exists {
				t.Errorf("%s has no plain name", name)
			}
		} else if _, exists := table[corePrefix+name]; !exists {
			t.Errorf("%s has no name with the prefix", name)
		}
	}
}

func TestDocumentationListsEveryFunction(t *testing.T) {
	source, err := os.ReadFile("../../docs/functions.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]int{}
	for line := range strings.Lines(string(source)) {
		if rest, isRow := strings.CutPrefix(line, "| `"); isRow {
			name, _, _ := strings.Cut(rest, "(")
			documented[name]++
		}
	}
	for name := range Functions(Options{Tofu: true}) {
		if !strings.HasPrefix(name, corePrefix) && documented[name] != 1 {
			t.Errorf("docs/functions.md has %d rows for %s, want 1", documented[name], name)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("docs/functions.md has a row for %s, which does not exist", name)
	}
}

func BenchmarkSharedTable(b *testing.B) {
	scope := &hcl.EvalContext{
		Functions: Functions(Options{PureOnly: true}),
		Variables: map[string]cty.Value{"name": cty.StringVal("web"), "tags": cty.MapVal(map[string]cty.Value{"a": cty.StringVal("b")})},
	}
	for _, source := range []string{
		`upper(name)`,
		`format("%s-%d", name, 3)`,
		`merge(tags, { name = name })`,
		`try(tags.missing, lookup(tags, "a", "x"))`,
		`jsonencode({ name = name, tags = tags })`,
	} {
		expr := parseExpression(b, source)
		b.Run(source, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, diags := expr.Value(scope); diags.HasErrors() {
					b.Fatal(diags)
				}
			}
		})
	}
}

// The cost of a table for every evaluation, on top of BenchmarkSharedTable.
func BenchmarkFunctions(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Functions(Options{PureOnly: true})
	}
}
