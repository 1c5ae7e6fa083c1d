// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package body_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/providers/schema/schematest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// locals is the scope of configurations that terraform decodes as well; terraformScope is the same
// for us.
const locals = `
locals {
  list    = tolist(["a", "b"])
  set     = toset(["a", "b"])
  map     = tomap({ x = "a", y = "b" })
  object  = { x = 1, y = "b" }
  none    = tolist([])
  null    = null
  partly  = [ "a", terraform_data.unknown.output ]
  secret  = sensitive("s")
  secrets = [sensitive("s")]
  hidden  = sensitive(["s"])
  text    = "text"
}
variable "passing" {
  ephemeral = true
  default   = ["e"]
}
`

var terraformScope = &hcl.EvalContext{Variables: map[string]cty.Value{
	"terraform_data": cty.ObjectVal(map[string]cty.Value{"unknown": cty.ObjectVal(map[string]cty.Value{"output": cty.DynamicVal})}),
	"var":            cty.ObjectVal(map[string]cty.Value{"passing": cty.DynamicVal.Mark(marks.Ephemeral)}),
	"local": cty.ObjectVal(map[string]cty.Value{
		"list":    cty.ListVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}),
		"set":     cty.SetVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}),
		"map":     cty.MapVal(map[string]cty.Value{"x": cty.StringVal("a"), "y": cty.StringVal("b")}),
		"object":  cty.ObjectVal(map[string]cty.Value{"x": cty.NumberIntVal(1), "y": cty.StringVal("b")}),
		"none":    cty.ListValEmpty(cty.DynamicPseudoType),
		"null":    cty.NullVal(cty.DynamicPseudoType),
		"partly":  cty.TupleVal([]cty.Value{cty.StringVal("a"), cty.DynamicVal}),
		"secret":  cty.StringVal("s").Mark(marks.Sensitive),
		"secrets": cty.TupleVal([]cty.Value{cty.StringVal("s").Mark(marks.Sensitive)}),
		"hidden":  cty.TupleVal([]cty.Value{cty.StringVal("s")}).Mark(marks.Sensitive),
		"text":    cty.StringVal("text"),
	}),
}}

// resources returns the bodies of the resources of a configuration by their types.
func resources(t *testing.T, config string) map[string]hcl.Body {
	t.Helper()
	content, _, diags := parse(t, config).PartialContent(&hcl.BodySchema{
		Blocks: []hcl.BlockHeaderSchema{{Type: "resource", LabelNames: []string{"type", "name"}}},
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	bodies := map[string]hcl.Body{}
	for _, block := range content.Blocks {
		bodies[block.Labels[0]] = block.Body
	}
	return bodies
}

// Random bodies for random schemas are decoded as terraform does.
func TestDecodeAgreesWithTerraform(t *testing.T) {
	random := schematest.NewRandom(testenv.Seed(t))
	echo := &schematest.Echo{Resources: map[string]*schema.Block{}}
	config := strings.Builder{}
	config.WriteString(schematest.Requirement + schematest.UnknownResource)
	for i := range 150 {
		random.Dynamic = i%3 == 0
		block := random.Block(2)
		name := fmt.Sprintf("echo_%d", i)
		echo.Resources[name] = block
		fmt.Fprintf(&config, "resource %q \"it\" {\n%s}\n", name, schematest.Syntax(block, random.Object(block, schematest.Config)))
	}
	w := echo.Start(t, map[string]string{"main.tf": config.String()})
	diags, _ := w.Terraform(t, "plan", "-json")
	for _, diag := range diags {
		t.Errorf("terraform reports: %s: %s", diag.Summary, diag.Detail)
	}
	calls, bodies := w.Calls("plan"), resources(t, config.String())
	if len(calls) != len(echo.Resources) {
		t.Errorf("terraform has planned %d of %d resources", len(calls), len(echo.Resources))
	}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		got, diags := body.NewDecoder(echo.Resources[name]).Decode(t.Context(), bodies[name], terraformScope)
		if diags.HasErrors() || !got.RawEquals(calls[name].Config) {
			t.Errorf("Decode of %s: %v\n%s", name, diags, schematest.Differences(got, calls[name].Config))
		}
	}
}

func attr(name string, ty cty.Type) *schema.Attribute {
	return &schema.Attribute{Name: name, Type: ty, Optional: true}
}

func nested(name string, nesting schema.Nesting, least, most int64, inside ...*schema.NestedBlock) *schema.NestedBlock {
	return &schema.NestedBlock{Name: name, Nesting: nesting, MinItems: least, MaxItems: most, Block: &schema.Block{
		Attributes: []*schema.Attribute{
			{Name: "a", Type: cty.String, Optional: true},
			{Name: "b", Type: cty.String, Optional: true, Computed: true},
		},
		Blocks: inside,
	}}
}

// modern is a schema with parts of all kinds.
func modern() *schema.Block {
	inner := func(nesting schema.Nesting) *schema.Object {
		return &schema.Object{Nesting: nesting, Attributes: []*schema.Attribute{
			{Name: "c", Type: cty.String, Computed: true}, attr("o", cty.String), {Name: "r", Type: cty.String, Required: true},
		}}
	}
	return &schema.Block{
		Attributes: []*schema.Attribute{
			attr("any", cty.DynamicPseudoType),
			{Name: "computed", Type: cty.String, Computed: true},
			{Name: "deprecated", Type: cty.String, Optional: true, Deprecated: true},
			attr("list", cty.List(cty.Object(map[string]cty.Type{"a": cty.String, "n": cty.Number}))),
			{Name: "nested_list", Optional: true, Nested: inner(schema.List)},
			{Name: "nested_map", Optional: true, Nested: inner(schema.Map)},
			{Name: "nested_set", Optional: true, Nested: inner(schema.Set)},
			{Name: "nested_single", Optional: true, Nested: inner(schema.Single)},
			attr("number", cty.Number),
			attr("object", cty.Object(map[string]cty.Type{"a": cty.String})),
			attr("text", cty.String),
			{Name: "write", Type: cty.String, Optional: true, WriteOnly: true},
		},
		Blocks: []*schema.NestedBlock{
			nested("bgroup", schema.Group, 0, 0), nested("blist", schema.List, 0, 0, nested("inside", schema.List, 0, 0)),
			nested("bmap", schema.Map, 0, 0), nested("bmax", schema.List, 0, 2), nested("bset", schema.Set, 0, 0),
			nested("bsetmax", schema.Set, 0, 1), nested("bsingle", schema.Single, 0, 0),
		},
	}
}

// legacy is a schema whose lists and sets of objects may be written as blocks.
func legacy() *schema.Block {
	inner := cty.Object(map[string]cty.Type{
		"a":    cty.String,
		"deep": cty.List(cty.Object(map[string]cty.Type{"x": cty.String})),
		"n":    cty.Number,
	})
	return &schema.Block{Attributes: []*schema.Attribute{
		{Name: "list", Type: cty.List(inner), Optional: true, Computed: true},
		{Name: "set", Type: cty.Set(inner), Optional: true},
		attr("text", cty.String),
	}, Blocks: []*schema.NestedBlock{nested("bmin", schema.List, 0, 0)}}
}

func needy() *schema.Block {
	return &schema.Block{
		Attributes: []*schema.Attribute{{Name: "need", Type: cty.String, Required: true}},
		Blocks: []*schema.NestedBlock{
			nested("bgroup", schema.Group, 0, 0), nested("bmin", schema.List, 2, 3), nested("bsetmin", schema.Set, 2, 0),
			nested("bsingle", schema.Single, 1, 1),
		},
	}
}

// Bodies are decoded as terraform does: to the same objects, and with errors at the same places.
func TestCasesAgreeWithTerraform(t *testing.T) {
	const unknown = schematest.Unknown
	schemas := map[string]func() *schema.Block{"modern": modern, "legacy": legacy, "needy": needy}
	tests := map[string][]string{
		"modern": {
			``,
			`text = 1`, `text = true`, `number = "12"`, `number = "x"`, `text = null`, `text = ` + unknown,
			`any = null`, `any = { a = 1, b = [null] }`, `any = ` + unknown, `any = { a = ` + unknown + ` }`,
			`computed = "x"`, `deprecated = "x"`, `write = "x"`, `write = null`, `write = local.secret`,
			`object = { a = "x", extra = 1 }`, `object = {}`, `object = { a = null }`,
			`nested_single = { r = "x" }`, `nested_single = { o = "x" }`, `nested_single = { r = "x", extra = 1 }`,
			`nested_single = { r = "x", c = "y" }`,
			`nested_single = { r = null }`, `nested_single = null`, `nested_single = ` + unknown,
			`nested_list = [{ r = "x" }, { r = "y", o = 1 }]`, `nested_list = [{ r = "x" }, { o = 1 }]`, `nested_list = []`, `nested_list = [null]`,
			`nested_map = { k = { r = "x" } }`, `nested_map = { k = { o = "x" } }`, `nested_set = [{ r = "x" }, { r = "x" }]`,
			`nested_set = [{ r = local.secret }]`,
			`nested_list { r = "x" }`,
			`list = [{ a = "x", n = 1 }, { a = "y", n = "z" }]`, `list = [{ a = "x", n = 1 }, { a = "y" }]`, `list { a = "x" }`,
			`dynamic "nested_list" {
  for_each = []
  content {}
}`,
			"bgroup {}", "bgroup {\n a = 1\n}", "bgroup {}\nbgroup {}", "bsingle {}", "bsingle {}\nbsingle {}", "bsingle \"x\" {}",
			"blist {}\nblist {\n a = 1\n}", "blist {\n inside {}\n}", "bset {}\nbset {}", "bset {\n a = 1\n}\nbset {\n a = 1\n}",
			"bmap \"k\" {}", "bmap \"k\" {}\nbmap \"k\" {}", "bmap {}", "bmap \"k\" \"l\" {}",
			"bmax {}\nbmax {}\nbmax {}", "bsetmax {}\nbsetmax {}", "bsetmax {\n a = 1\n}\nbsetmax {}", "other {}", "blist = []", "bsingle = null",
			dynamic("blist", "local.list", "a = blist.value"), dynamic("blist", "local.set", "a = blist.key"), dynamic("blist", "local.map",
				"a = \"${blist.key}${blist.value}\""),
			dynamic("blist", "local.object", "a = blist.value"), dynamic("blist", "local.none", "a = blist.value"), dynamic("blist", "[1, 2]",
				"a = blist.key"),
			dynamic("blist", "local.null", "a = 1"), dynamic("blist", `"text"`, "a = 1"), dynamic("blist", unknown,
				"a = blist.value"), dynamic("blist", unknown, "extra = 1"),
			dynamic("blist", "local.partly", "a = blist.value"), dynamic("blist", "local.hidden", "a = blist.value"), dynamic("blist",
				"local.secrets", "a = blist.value"),
			dynamic("blist", "var.passing", "a = 1"), dynamic("blist", "local.list", "inside {\n a = blist.value\n}"),
			dynamic("blist", "local.list",
				"iterator = it\n"), "dynamic \"blist\" {\n for_each = local.list\n iterator = it\n content {\n  a = it.value\n }\n}",
			"dynamic \"blist\" {\n for_each = local.list\n iterator = it.x\n content {\n }\n}",
			"dynamic \"blist\" {\n for_each = local.list\n iterator = it\n content {\n  a = blist.value\n }\n}",
			dynamic("blist", "local.list", "dynamic \"inside\" {\n for_each = local.map\n content {\n  a = \"${blist.value}${inside.key}\"\n }\n}"),
			dynamic("blist", "local.list", "dynamic \"inside\" {\n for_each = [blist.value]\n content {\n  a = inside.value\n }\n}"),
			dynamic("blist", unknown, "dynamic \"inside\" {\n for_each = [blist.value]\n content {\n  a = inside.value\n }\n}"),
			dynamic("blist", "[1]", "dynamic \"inside\" {\n for_each = "+unknown+"\n content {\n }\n}"),
			"blist {}\n" + dynamic("blist", unknown, ""), "bset {}\n" + dynamic("bset", unknown, ""), dynamic("bset", unknown, ""),
			dynamic("bsingle", unknown, ""), dynamic("bsingle", unknown, "a = 1"), dynamic("bgroup", unknown, "a = 1"), dynamic("bgroup",
				unknown, ""), dynamic("bsingle", "[1]", "a = 1"), dynamic("bsingle", "[1, 2]", "a = 1"),
			dynamic("bset", "local.hidden", "a = bset.value"), dynamic("bsingle", "local.hidden", "a = 1"), dynamic("blist",
				unknown, "inside {}"), dynamic("blist", unknown, "a = local.nothing"),
			"bsingle {}\n" + dynamic("bsingle", unknown, ""), dynamic("bsingle", "[]", "a = 1"), dynamic("bgroup", "[]", "a = 1"),
			"bmax {}\nbmax {}\nbmax {}\n" + dynamic("bmax", unknown, ""), "bmax {}\nbmax {}\n" + dynamic("bmax", unknown, ""),
			labelled("local.map", "[bmap.key]", "a = bmap.value"), labelled("local.list", `["same"]`, ""), labelled("local.map",
				"["+unknown+"]", ""), labelled("local.map", "[null]", ""),
			labelled("local.map", "[local.secret]", ""), labelled("local.map", "[[]]", ""), labelled("local.map", "[1]", ""), labelled("[1]",
				"[1]", ""), labelled("local.map", "[\"a\", \"b\"]", ""), labelled("local.map", "[]", ""),
			labelled(unknown, "[bmap.key]", ""), labelled(unknown, `["k"]`, ""), "bmap \"k\" {}\n" + labelled(unknown,
				`["k"]`, ""), dynamic("bmap", "local.map", ""),
			"dynamic \"blist\" {\n for_each = []\n}", "dynamic \"blist\" {\n content {}\n}",
			"dynamic \"blist\" {\n for_each = []\n content {}\n content {}\n}",
			"dynamic \"blist\" {\n for_each = []\n labels = [\"x\"]\n content {}\n}",
			"dynamic \"blist\" {\n for_each = []\n extra = 1\n content {}\n}",
			dynamic("other", "[]", ""), dynamic("text", "[]", ""), "dynamic {\n}", "bset {\n a = local.secret\n}", "blist {\n a = local.secret\n}",
			dynamic("bset", "local.partly", "a = bset.value"), "extra = 1", "texts = 1", "bsingles {}", "text = local.nothing", "number = [1]",
			"text = {}", "text = local.secrets[0]",
		},
		"legacy": {
			``, `list = []`, `list = null`, `set = []`, `list = [{ a = "x", deep = [], n = 1 }]`, `list = [{ a = "x" }]`, "list {}",
			"list {\n a = 1\n}\nlist {\n n = 2\n}", "set {\n a = 1\n}\nset {\n a = 1\n}", "list {\n deep {\n  x = 1\n }\n}",
			"list {\n deep = [{ x = 1 }]\n}", "list {\n extra = 1\n}", "list {\n n = \"x\"\n}", "list \"x\" {}",
			"list = []\nlist {}", dynamic("list", "[]", ""), dynamic("list", "local.list", "a = list.value"),
			dynamic("set", unknown, "a = set.value"), dynamic("list", unknown, ""), "list {}\n" + dynamic("list", unknown, ""),
			dynamic("list", "local.list", "dynamic \"deep\" {\n for_each = [1]\n content {\n  x = \"${list.value}${deep.value}\"\n }\n}"),
			"list = " + unknown, "list = [" + unknown + "]", dynamic("text", "[]", ""), "text {}", "lists {}",
		},
		"needy": {
			``, `need = "x"`, `need = null`,
			"need = \"x\"\nbgroup {}\nbsingle {}\nbmin {}\nbmin {}\nbsetmin {}\nbsetmin {\n a = 1\n}",
			"need = 1\nbgroup {}\nbsingle {}\nbmin {}\nbsetmin {}\nbsetmin {}",
			"need = 1\nbgroup {}\nbsingle {}\nbmin {}\n" + dynamic("bmin", unknown, "") + "\nbsetmin {}\nbsetmin {}",
			"need = 1\nbgroup {}\n" + dynamic("bsingle", "[]", "") + "\nbmin {}\nbmin {}\nbsetmin {}\nbsetmin {}",
			"need = 1\nbgroup {}\n" + dynamic("bsingle", unknown, "") + "\nbmin {}\nbmin {}\nbsetmin {}\nbsetmin {}",
			"need = " + unknown + "\nbsingle {}\n" + dynamic("bmin", "local.list", "") + "\nbsetmin {}\nbsetmin {}",
		},
	}
	echo := &schematest.Echo{Resources: map[string]*schema.Block{}}
	config, texts := strings.Builder{}, map[string]string{}
	config.WriteString(schematest.Requirement + schematest.UnknownResource + locals)
	for _, kind := range slices.Sorted(maps.Keys(tests)) {
		for i, text := range tests[kind] {
			name := fmt.Sprintf("echo_%s_%d", kind, i)
			echo.Resources[name], texts[name] = schemas[kind](), text
			fmt.Fprintf(&config, "resource %q \"it\" {\n%s\n}\n", name, text)
		}
	}
	w := echo.Start(t, map[string]string{"main.tf": config.String()})
	diags, _ := w.Terraform(t, "plan", "-json")
	calls, bodies := w.Calls("validate"), resources(t, config.String())
	ours, theirs := map[int]bool{}, map[int]bool{} // lines with errors
	for _, diag := range diags {
		if diag.Severity == "error" {
			theirs[diag.Range.Start.Line] = true
		} else {
			t.Errorf("terraform warns: %s: %s", diag.Summary, diag.Detail)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		got, diags := body.NewDecoder(echo.Resources[name]).Decode(t.Context(), bodies[name], terraformScope)
		call, accepted := calls[name]
		bare, _ := got.UnmarkDeep()
		switch {
		case accepted != !diags.HasErrors():
			t.Errorf("%s: Decode(%s) = %#v, %v; terraform has %#v", name, texts[name], got, diags, call.Config)
		case accepted && !bare.RawEquals(call.Config):
			t.Errorf("%s: Decode(%s)\n%s", name, texts[name], schematest.Differences(bare, call.Config))
		}
		for _, diag := range diags {
			ours[diag.Subject.Start.Line] = true
		}
	}
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("errors are reported on other lines than by terraform: %s", diff)
	}
}

func dynamic(name, forEach, content string) string {
	return fmt.Sprintf("dynamic %q {\n for_each = %s\n content {\n%s\n }\n}", name, forEach, content)
}

func labelled(forEach, labels, content string) string {
	return fmt.Sprintf("dynamic \"bmap\" {\n for_each = %s\n labels = %s\n content {\n%s\n }\n}", forEach, labels, content)
}
