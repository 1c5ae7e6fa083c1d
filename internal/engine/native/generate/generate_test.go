// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package generate_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/generate"
	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// sample is an object with the schema of its type.
type sample struct {
	block  *schema.Block
	object map[string]cty.Value // missing attributes are as in an empty block
}

// value returns the object.
func (s sample) value() cty.Value {
	values := s.block.Empty().AsValueMap()
	for name, value := range s.object {
		values[name] = value
	}
	return cty.ObjectVal(values)
}

func optional(name string, ty cty.Type) *schema.Attribute {
	return &schema.Attribute{Name: name, Type: ty, Optional: true}
}

func computed(name string, ty cty.Type) *schema.Attribute {
	return &schema.Attribute{Name: name, Type: ty, Computed: true}
}

func both(name string, ty cty.Type) *schema.Attribute {
	return &schema.Attribute{Name: name, Type: ty, Optional: true, Computed: true}
}

func required(name string, ty cty.Type) *schema.Attribute {
	return &schema.Attribute{Name: name, Type: ty, Required: true}
}

func secret(name string, ty cty.Type) *schema.Attribute {
	return &schema.Attribute{Name: name, Type: ty, Optional: true, Sensitive: true}
}

func old(name string) *schema.Attribute {
	return &schema.Attribute{Name: name, Type: cty.String, Optional: true, Deprecated: true}
}

func nested(name string, nesting schema.Nesting, attributes ...*schema.Attribute) *schema.Attribute {
	return &schema.Attribute{Name: name, Optional: true, Nested: &schema.Object{Nesting: nesting, Attributes: attributes}}
}

func text(s string) cty.Value { return cty.StringVal(s) }

func texts(all ...string) []cty.Value {
	var values []cty.Value
	for _, one := range all {
		values = append(values, text(one))
	}
	return values
}

// part is the content of nested blocks and attributes.
func part() []*schema.Attribute {
	return []*schema.Attribute{
		both("chosen", cty.String), both("id", cty.String), computed("made", cty.String), required("name", cty.String), old("nick"),
		secret("secret", cty.String), optional("value", cty.String),
	}
}

func partOf(name string, value cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"chosen": text("c"), "id": text("i"), "made": text("m"), "name": text(name), "nick": text("n"), "secret": text("s"), "value": value,
	})
}

func xOf(value string) cty.Value { return cty.ObjectVal(map[string]cty.Value{"x": text(value)}) }

var noText = cty.NullVal(cty.String)

// samples are objects of types "echo_" + name. The file testdata/name.tf has the block that
// terraform generates.
var samples = map[string]sample{
	"kinds": {
		block: &schema.Block{Attributes: []*schema.Attribute{
			optional("bool", cty.Bool), both("chosen", cty.String), both("chosen_null", cty.String), optional("dynamic", cty.DynamicPseudoType),
			both("id", cty.String), optional("list", cty.List(cty.String)), computed("made", cty.String), optional("map", cty.Map(cty.String)),
			optional("number", cty.Number), optional("object", cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.List(cty.Number)})),
			old("old"), required("required", cty.String), secret("secret", cty.String), optional("set", cty.Set(cty.String)),
			optional("string", cty.String), optional("tuple", cty.Tuple([]cty.Type{cty.String, cty.Bool})),
			{Name: "write_only", Type: cty.String, Optional: true, WriteOnly: true},
		}},
		object: map[string]cty.Value{
			"bool": cty.True, "chosen": text("c"), "dynamic": cty.ObjectVal(map[string]cty.Value{"x": cty.NumberIntVal(1)}), "id": text("i"),
			"list": cty.ListVal(texts("a", "b")), "made": text("m"), "map": cty.MapVal(map[string]cty.Value{"k": text("v"), "two words": text("w")}),
			"number": cty.MustParseNumberVal("1.5"),
			"object": cty.ObjectVal(map[string]cty.Value{"a": text("x"), "b": cty.ListVal([]cty.Value{cty.Zero})}),
			"old":    text("o"), "required": text("r"), "secret": text("s"), "set": cty.SetVal(texts("b", "a")), "string": text("s"),
			"tuple": cty.TupleVal([]cty.Value{text("t"), cty.False}),
		},
	},
	"nothing": {
		block: &schema.Block{Attributes: []*schema.Attribute{
			optional("bool", cty.Bool), both("chosen", cty.String), optional("list", cty.List(cty.String)), optional("map", cty.Map(cty.String)),
			nested("nested", schema.Single, part()...), nested("nested_list", schema.List, part()...), required("required", cty.String),
			secret("secret", cty.String), optional("string", cty.String),
		}},
		object: map[string]cty.Value{"required": text("")},
	},
	"empty": {
		block: &schema.Block{Attributes: []*schema.Attribute{
			both("chosen", cty.String), both("chosen_list", cty.List(cty.String)), optional("dynamic", cty.DynamicPseudoType),
			required("id", cty.String), optional("list", cty.List(cty.String)), optional("map", cty.Map(cty.String)),
			optional("number", cty.Number), optional("object", cty.EmptyObject), required("required", cty.String),
			secret("secret", cty.String), optional("set", cty.Set(cty.String)), optional("string", cty.String),
			optional("strings", cty.List(cty.String)),
		}},
		object: map[string]cty.Value{
			"chosen": text(""), "chosen_list": cty.ListValEmpty(cty.String), "dynamic": text(""), "id": text("i"),
			"list": cty.ListValEmpty(cty.String), "map": cty.MapValEmpty(cty.String), "number": cty.Zero, "object": cty.EmptyObjectVal,
			"required": text(""), "secret": text(""), "set": cty.SetValEmpty(cty.String), "string": text(""), "strings": cty.ListVal(texts("")),
		},
	},
	"texts": {
		block: &schema.Block{Attributes: []*schema.Attribute{
			optional("array", cty.String), optional("broken", cty.String), optional("control", cty.String), optional("document", cty.String),
			optional("dynamic", cty.DynamicPseudoType), optional("lines", cty.String), optional("list", cty.List(cty.String)),
			optional("map", cty.Map(cty.String)), optional("number", cty.String), optional("spaced", cty.String), optional("template", cty.String),
			optional("unicode", cty.String), optional("word", cty.String),
		}},
		object: map[string]cty.Value{
			"array": text(`["a",1,null]`), "broken": text(`{"a":`), "control": text("\x00\t\r\u2028"),
			"document": text(`{"a":{"b c":[true]},"d":"x"}`), "dynamic": text(`{"a":1}`),
			"lines": text("one\n  two \"quoted\"\n\nthree\n"), "list": cty.ListVal(texts(`{"a":1}`)),
			"map":    cty.MapVal(map[string]cty.Value{"${a}": text("%{b}"), "line\nbreak": text("x"), "é": text("")}),
			"number": text("12"), "spaced": text("{ \"b\": 1,\n \"a\": 2 }"), "template": text("${a} $${b} %{c} $d \\"),
			"unicode": text("é 世界 😀"), "word": text(`"x"`),
		},
	},
	"nested": {
		block: &schema.Block{Attributes: []*schema.Attribute{
			{Name: "chosen", Optional: true, Computed: true, Nested: &schema.Object{Nesting: schema.Single, Attributes: part()}},
			nested("deep", schema.Map, nested("inner", schema.Set, optional("x", cty.String))),
			nested("empty_list", schema.List, part()...), nested("empty_map", schema.Map, part()...), nested("list", schema.List, part()...),
			{Name: "made", Computed: true, Nested: &schema.Object{Nesting: schema.Single, Attributes: part()}},
			nested("map", schema.Map, part()...),
			nested("set", schema.Set, part()...), nested("single", schema.Single, part()...),
		}},
		object: map[string]cty.Value{
			"chosen": partOf("a", noText), "deep": cty.MapVal(map[string]cty.Value{"k": cty.ObjectVal(map[string]cty.Value{
				"inner": cty.SetVal([]cty.Value{xOf("1"), cty.ObjectVal(map[string]cty.Value{"x": noText})}),
			})}),
			"empty_list": cty.ListValEmpty(partOf("", noText).Type()), "empty_map": cty.MapValEmpty(partOf("", noText).Type()),
			"list": cty.ListVal([]cty.Value{partOf("a", text("")), partOf("b", text(`{"a":1}`))}), "made": partOf("a", noText),
			"map": cty.MapVal(map[string]cty.Value{"k": partOf("a", noText), "two words": partOf("b", noText)}),
			"set": cty.SetVal([]cty.Value{partOf("a", noText)}), "single": partOf("a", text("v")),
		},
	},
	"blocks": {
		block: &schema.Block{
			Attributes: []*schema.Attribute{optional("value", cty.String)},
			Blocks: []*schema.NestedBlock{
				{Name: "gone", Nesting: schema.List, Block: &schema.Block{Attributes: part()}},
				{Name: "group", Nesting: schema.Group, Block: &schema.Block{Attributes: part()}},
				{Name: "group_empty", Nesting: schema.Group, Block: &schema.Block{Attributes: part()}},
				{Name: "list", Nesting: schema.List, Block: &schema.Block{
					Attributes: part(),
					Blocks: []*schema.NestedBlock{
						{Name: "inner", Nesting: schema.Single, Block: &schema.Block{Attributes: part()}},
						{Name: "missing", Nesting: schema.List, MinItems: 1, Block: &schema.Block{Attributes: part()}},
					},
				}},
				{Name: "map", Nesting: schema.Map, Block: &schema.Block{Attributes: part()}},
				{Name: "old", Nesting: schema.List, Block: &schema.Block{Attributes: part(), Deprecated: true}},
				{Name: "set", Nesting: schema.Set, Block: &schema.Block{Attributes: []*schema.Attribute{optional("x", cty.String)}}},
				{Name: "single", Nesting: schema.Single, Block: &schema.Block{Attributes: part()}},
				{Name: "single_gone", Nesting: schema.Single, Block: &schema.Block{Attributes: part()}},
			},
		},
		object: map[string]cty.Value{
			"group": partOf("g", noText), "list": cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{
				"chosen": text("c"), "id": text("i"), "made": text("m"), "name": text("l"), "nick": noText, "secret": noText, "value": text(""),
				"inner": partOf("i", noText), "missing": cty.ListValEmpty(partOf("", noText).Type()),
			})}),
			"map": cty.MapVal(map[string]cty.Value{"k": partOf("a", noText), "two words": partOf("b", noText)}),
			"old": cty.ListVal([]cty.Value{partOf("o", noText)}), "set": cty.SetVal([]cty.Value{xOf("b"), xOf("a")}),
			"single": partOf("s", text("v")),
		},
	},
}

func TestDescribe(t *testing.T) {
	for name, sample := range samples {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join("testdata", name+".tf"))
			if err != nil {
				t.Fatal(err)
			}
			object := sample.value()
			got := generate.Describe(generate.Head{Type: "echo_" + name, Name: "it"}, sample.block, object)
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("(-terraform +cairn):\n%s", diff)
			}
		})
	}
}

// Sensitive values with a schema of their own are null, and blocks in sets are written one by one:
// terraform writes arguments that providers may refuse.
func TestSensitive(t *testing.T) {
	hidden := nested("hidden", schema.List, required("x", cty.String))
	hidden.Sensitive = true
	block := &schema.Block{
		Attributes: []*schema.Attribute{hidden},
		Blocks:     []*schema.NestedBlock{{Name: "set", Nesting: schema.Set, Block: &schema.Block{Attributes: part()}}},
	}
	const want = `resource "t" "it" {
  provider = p.other
  hidden   = null # sensitive
  set {
    chosen = "c"
    id     = "i"
    name   = "a"
    secret = null # sensitive
    value  = null
  }
}
`
	object := sample{block, map[string]cty.Value{
		"hidden": cty.ListVal([]cty.Value{xOf("hush-hush")}), "set": cty.SetVal([]cty.Value{partOf("a", noText)}),
	}}.value()
	got := generate.Describe(generate.Head{Type: "t", Name: "it", Provider: "p.other"}, block, object)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestImport(t *testing.T) {
	head := generate.Head{Type: "t", Name: "it"}
	if diff := cmp.Diff("import {\n  to = t.it\n  id = \"a$${b}\"\n}\n", string(generate.Import(head, "a${b}", cty.NilVal))); diff != "" {
		t.Errorf("by ID (-want +got):\n%s", diff)
	}
	const want = `import {
  to       = t.it
  provider = p
  identity = {
    account = "1"
    region  = "r"
  }
}
`
	head.Provider = "p"
	identity := cty.ObjectVal(map[string]cty.Value{"region": text("r"), "account": text("1"), "zone": noText})
	if diff := cmp.Diff(want, string(generate.Import(head, "", identity))); diff != "" {
		t.Errorf("by identity (-want +got):\n%s", diff)
	}
}

// A configuration is written as it is.
func TestResource(t *testing.T) {
	block := &schema.Block{Attributes: []*schema.Attribute{
		optional("empty", cty.String), both("id", cty.String), computed("made", cty.String), old("old"), secret("secret", cty.String),
	}}
	config := sample{block, map[string]cty.Value{"empty": text(""), "id": text("i"), "made": text("m"), "secret": text("hush-hush")}}.value()
	const want = `resource "t" "it" {
  empty  = ""
  id     = "i"
  secret = null # sensitive
}
`
	got := generate.Resource(generate.Head{Type: "t", Name: "it"}, block, config)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
