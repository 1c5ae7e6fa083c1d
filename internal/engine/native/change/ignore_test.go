// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/providers/schema/schematest"
)

// ignoring is a schema whose parts can be ignored.
func ignoring() *schema.Block {
	inner := []*schema.Attribute{optional("a", cty.String), both("b", cty.String), computed("c", cty.String)}
	return &schema.Block{
		Attributes: []*schema.Attribute{
			optional("any", cty.DynamicPseudoType), both("both", cty.String), computed("computed", cty.String),
			optional("list", cty.List(cty.String)),
			{Name: "nested", Optional: true, Nested: &schema.Object{Nesting: schema.List, Attributes: inner}},
			optional("tags", cty.Map(cty.String)), optional("text", cty.String),
		},
		Blocks: []*schema.NestedBlock{
			{Name: "blocks", Nesting: schema.List, Block: &schema.Block{Attributes: inner}},
			{Name: "one", Nesting: schema.Single, Block: &schema.Block{Attributes: inner}},
			{Name: "set", Nesting: schema.Set, Block: &schema.Block{Attributes: inner}},
		},
	}
}

func tags(of values) cty.Value { return cty.MapVal(of) }

func abc(a, b, c string) cty.Value {
	return cty.ObjectVal(values{"a": text(a), "b": text(b), "c": text(c)})
}

// The configurations that terraform makes by ignoring changes.
func TestIgnoreChangesAgreesWithTerraform(t *testing.T) {
	path := cty.GetAttrPath
	key := func(name, key string) cty.Path { return path(name).Index(text(key)) }
	unknown := schematest.Unknown
	before := values{
		"text":     text("old"),
		"both":     text("B"),
		"computed": text("C"),
		"list":     cty.ListVal([]cty.Value{text("x"), text("y")}),
		"tags":     tags(values{"k": text("1"), "l": text("2")}),
		"any":      cty.ObjectVal(values{"k": text("1"), "l": number(2)}),
		"nested":   cty.ListVal([]cty.Value{abc("1", "2", "3"), abc("4", "5", "6")}),
		"blocks":   cty.ListVal([]cty.Value{abc("1", "2", "3"), abc("4", "5", "6")}),
		"one":      abc("1", "2", "3"),
		"set":      cty.SetVal([]cty.Value{abc("1", "2", "3")}),
	}
	tests := []struct {
		ignored string
		paths   []cty.Path
		config  string
		empty   bool // there is nothing in the prior object
	}{
		{"text", []cty.Path{path("text")}, `text = "new"`, false},
		{"text", []cty.Path{path("text")}, ``, false},
		{"text", []cty.Path{path("text")}, `text = "new"`, true},
		{"text", []cty.Path{path("text")}, `text = ` + unknown, false},
		{"text, tags", []cty.Path{path("text"), path("tags")}, `tags = { m = "3" }`, false},
		{`tags["k"]`, []cty.Path{key("tags", "k")}, `tags = { k = "9", m = "3" }`, false},
		{`tags["k"]`, []cty.Path{key("tags", "k")}, `tags = { m = "3" }`, false},
		{`tags["k"]`, []cty.Path{key("tags", "k")}, `tags = {}`, false},
		{`tags["k"]`, []cty.Path{key("tags", "k")}, ``, false},
		{`tags["k"]`, []cty.Path{key("tags", "k")}, `tags = ` + unknown, false},
		{`tags["k"]`, []cty.Path{key("tags", "k")}, `tags = { k = ` + unknown + ` }`, false},
		{`tags["m"]`, []cty.Path{key("tags", "m")}, `tags = { m = "3", n = "4" }`, false},
		{`tags["m"]`, []cty.Path{key("tags", "m")}, `tags = { m = "3" }`, false},
		{`tags["m"]`, []cty.Path{key("tags", "m")}, ``, true},
		{`tags["m"]`, []cty.Path{key("tags", "m")}, `tags = { m = "3" }`, true},
		{`tags["m"]`, []cty.Path{key("tags", "m")}, `tags = { m = "3", n = "4" }`, true},
		{`tags["k"], tags["m"]`, []cty.Path{key("tags", "k"), key("tags", "m")}, `tags = { m = "3", k = "4" }`, false},
		{`list[0]`, []cty.Path{path("list").IndexInt(0)}, `list = ["n", "m"]`, false},
		{`list[1]`, []cty.Path{path("list").IndexInt(1)}, `list = ["n"]`, false},
		{`list[2]`, []cty.Path{path("list").IndexInt(2)}, `list = ["n", "m", "o"]`, false},
		{`any.k`, []cty.Path{path("any").GetAttr("k")}, `any = { k = "9", l = 3 }`, false},
		{`any["k"]`, []cty.Path{key("any", "k")}, `any = { k = "9", l = 3 }`, false},
		{`any["k"]`, []cty.Path{key("any", "k")}, `any = null`, false},
		{`any["k"]`, []cty.Path{key("any", "k")}, `any = ` + unknown, false},
		{`any["k"]`, []cty.Path{key("any", "k")}, `any = { k = 1 }`, true},
		{`any["k"]`, []cty.Path{key("any", "k")}, `any = tomap({ k = 1 })`, false},
		{`any["m"]`, []cty.Path{key("any", "m")}, `any = { m = "9", l = 3 }`, false},
		{`any.m`, []cty.Path{path("any").GetAttr("m")}, `any = { m = "9", l = 3 }`, false},
		{`any`, []cty.Path{path("any")}, `any = 1`, false},
		{`blocks`, []cty.Path{path("blocks")}, "blocks {\n a = 1\n}", false},
		{`blocks`, []cty.Path{path("blocks")}, "", false},
		{`blocks[0].a`, []cty.Path{path("blocks").IndexInt(0).GetAttr("a")}, "blocks {\n a = 9\n b = 8\n}", false},
		{`blocks[1].a`, []cty.Path{path("blocks").IndexInt(1).GetAttr("a")}, "blocks {\n a = 9\n}", false},
		{`blocks`, []cty.Path{path("blocks")}, "dynamic \"blocks\" {\n for_each = " + unknown + "\n content {}\n}", false},
		{`one.a`, []cty.Path{path("one").GetAttr("a")}, "one {\n a = 9\n b = 8\n}", false},
		{`one.a`, []cty.Path{path("one").GetAttr("a")}, "", false},
		{`one`, []cty.Path{path("one")}, "", false},
		{`set`, []cty.Path{path("set")}, "set {\n a = 9\n}", false},
		{`nested[0].a`, []cty.Path{path("nested").IndexInt(0).GetAttr("a")}, "nested = [{ a = 9 }]", false},
		{`nested`, []cty.Path{path("nested")}, "nested = [{ a = 9 }]", false},
		{`all`, nil, "text = 1\nset {\n a = 9\n}", false},
		{`all`, nil, "text = 1", true},
	}
	echo := &schematest.Echo{Resources: map[string]*schema.Block{}}
	config, objects := strings.Builder{}, map[string]cty.Value{}
	config.WriteString(schematest.Requirement + schematest.UnknownResource)
	for i, test := range tests {
		name := fmt.Sprintf("echo_%d", i)
		ignored := "[" + test.ignored + "]"
		if test.ignored == "all" {
			ignored = "all"
		}
		fmt.Fprintf(&config, "resource %q \"it\" {\n%s\nlifecycle {\n ignore_changes = %s\n}\n}\n", name, test.config, ignored)
		echo.Resources[name] = ignoring()
		objects[name] = object(ignoring(), before)
		if test.empty {
			objects[name] = ignoring().Empty()
		}
	}
	w := echo.Start(t, map[string]string{"main.tf": config.String(), "terraform.tfstate": echo.StateFile(t, objects)})
	diags, _ := w.Terraform(t, "plan", "-json")
	for _, diag := range diags {
		t.Errorf("terraform reports: %s: %s: %s", diag.Address, diag.Summary, diag.Detail)
	}
	written, calls := w.Calls("validate"), w.Calls("plan")
	for i, test := range tests {
		name := fmt.Sprintf("echo_%d", i)
		call, ok := calls[name]
		if !ok {
			t.Errorf("terraform has not planned %s", name)
			continue
		}
		got := change.IgnoreChanges(ignoring(), call.Prior, written[name].Config, test.paths, test.ignored == "all")
		if !got.RawEquals(call.Config) {
			t.Errorf("IgnoreChanges(%s) of %s\n%s", test.ignored, test.config, schematest.Differences(got, call.Config))
		}
	}
}
