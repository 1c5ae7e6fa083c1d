// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// isSameTable reports whether both are one map, not only equal ones.
func isSameTable(a, b map[string]function.Function) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

func TestTablesAreMadeOnce(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	for i, dir := range dirs {
		if err := os.WriteFile(filepath.Join(dir, "name"), []byte{'a' + byte(i)}, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tables := NewTables(Options{PureOnly: true})
	made := make([]map[string]function.Function, 8)
	var wait sync.WaitGroup
	for i := range made {
		wait.Go(func() { made[i] = tables.In(dirs[i%len(dirs)]) })
	}
	wait.Wait()
	for i, table := range made {
		if first := made[i%len(dirs)]; !isSameTable(table, first) {
			t.Errorf("call %d for directory %d made a table of its own", i, i%len(dirs))
		}
		scope := &hcl.EvalContext{Functions: table}
		if got, want := evaluateValue(t, scope, `file("name")`), cty.StringVal(string(rune('a'+i%len(dirs)))); !got.RawEquals(want) {
			t.Errorf("table %d: file(\"name\") = %#v, want %#v", i, got, want)
		}
		if got := evaluateValue(t, scope, `uuid()`); got.IsKnown() {
			t.Errorf("table %d: uuid() = %#v, want an unknown value as the options say", i, got)
		}
	}
}

func TestWith(t *testing.T) {
	table := Functions(Options{})
	size := len(table)
	if same := With(table, nil); !isSameTable(same, table) {
		t.Error("With(table, nil) made another table")
	}
	further := With(table, map[string]function.Function{"provider::p::shout": stdlib.UpperFunc})
	if len(table) != size || len(further) != size+1 {
		t.Errorf("the tables have %d and %d functions, want %d and %d", len(table), len(further), size, size+1)
	}
	_, diags := parseExpression(t, `uper("x")`).Value(&hcl.EvalContext{Functions: further})
	if !strings.Contains(diags.Error(), `Did you mean "upper"?`) {
		t.Errorf("uper: %v, want a proposal", diags)
	}
}

// HCL finds functions in all contexts around an expression, so that a context of a module can have
// those of providers, and contexts for count and each within need none.
func TestFunctionsOfOuterContexts(t *testing.T) {
	root := &hcl.EvalContext{Functions: Functions(Options{})}
	module := root.NewChild()
	module.Functions = map[string]function.Function{"provider::p::shout": stdlib.UpperFunc}
	instance := module.NewChild()
	instance.Variables = map[string]cty.Value{"name": cty.StringVal("a")}
	if got, want := evaluateValue(t, instance,
		`[for x in [name] : "${provider::p::shout(x)}${lower("B")}"][0]`), cty.StringVal("Ab"); !got.RawEquals(want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

// A run with many modules asks for the table of each.
func BenchmarkTables(b *testing.B) {
	tables := NewTables(Options{PureOnly: true})
	b.ReportAllocs()
	for b.Loop() {
		tables.In("modules/network")
	}
}

// BenchmarkWith measures the cost of adding a function of a provider, once a module.
func BenchmarkWith(b *testing.B) {
	table := Functions(Options{PureOnly: true})
	further := map[string]function.Function{"provider::p::shout": stdlib.UpperFunc}
	b.ReportAllocs()
	for b.Loop() {
		With(table, further)
	}
}
