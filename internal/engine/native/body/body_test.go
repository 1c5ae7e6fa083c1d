// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package body_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// Marks stay where they are written; those in sets are on the set, and those of collections on the
// blocks made for their elements.
func TestDecodeMarks(t *testing.T) {
	const sensitive = `.Mark(marks.Sensitive)`
	block := func(a string) string {
		return `cty.ObjectVal(map[string]cty.Value{"a":` + a + `, "b":cty.NullVal(cty.String)})`
	}
	testDecode(t, modern(), map[string]decoding{
		"argument":  {text: `text = secret`, part: "text", want: `cty.StringVal("s")` + sensitive},
		"ephemeral": {text: `write = ephemeral`, part: "write", want: `cty.StringVal("e").Mark(marks.Ephemeral)`},
		"set": {
			text: "bset {\n a = secret\n}",
			part: "bset",
			want: `cty.SetVal([]cty.Value{` + block(`cty.StringVal("s")`) + `})` + sensitive,
		},
		"single": {text: "bsingle {\n a = secret\n}", part: "bsingle", want: block(`cty.StringVal("s")` + sensitive)},
		"elements": {
			text: dynamic("bmax", "secrets", "a = bmax.value"),
			part: "bmax",
			want: `cty.ListVal([]cty.Value{` + block(`cty.StringVal("s")`+sensitive) + `})`,
		},
		"collection": {
			text: dynamic("bmax", "hidden", "a = 1"),
			part: "bmax",
			want: `cty.ListVal([]cty.Value{` + block(`cty.StringVal("1")`+sensitive) + sensitive + `})`,
		},
		"ephemeral collection": {
			text: dynamic("bsingle", "passing", "a = 1"), part: "bsingle", want: block(`cty.StringVal("1").Mark(marks.Ephemeral)`),
		},
		"secret keys are not named": {
			text: "list = [{ a = secret }]", part: "number", want: `cty.NullVal(cty.Number)`,
			errs: []string{`Invalid argument type at 1:8-1:24: The argument "list" cannot have this value: ` +
				`a part of it has the wrong type; which one is not shown, because the value is sensitive or ephemeral.`},
		},
	})
}

func TestDecodeErrors(t *testing.T) {
	testDecode(t, modern(), map[string]decoding{
		"type": {
			text: `number = []`,
			errs: []string{`Invalid argument type at 1:10-1:12: The argument "number" cannot have this value: number required, but have tuple.`},
		},
		"type inside of a list": {
			text: `list = [{ a = "x", n = 1 }, { a = "y", n = {} }]`,
			errs: []string{`Invalid argument type at 1:8-1:49: The argument "list" cannot have this value: ` +
				`element 1: attribute "n": number required, but have object.`},
		},
		"missing inside": {
			text: `nested_map = { k = {} }`,
			errs: []string{
				`Invalid argument type at 1:14-1:24: The argument "nested_map" cannot have this value: element "k": attribute "r" is required.`,
			},
		},
		"too many": {
			text: "bsingle {}\nbsingle {}",
			errs: []string{`Too many blocks at 2:1-2:8: At most one block of type "bsingle" can be here.`},
		},
		"label twice": {
			text: "bmap \"k\" {}\nbmap \"k\" {}", errs: []string{`Repeated label at 2:1-2:9: Another block of type "bmap" has the label "k".`},
		},
		"unknown label": {
			text: labelled("list", "[text]", ""),
			errs: []string{`Invalid label of dynamic block at 3:12-3:16: The label of a block must be known before anything is applied, ` +
				`and this value is not known yet.`},
		},
		"null collection": {
			text: dynamic("blist", "null", ""),
			errs: []string{`Invalid for_each of dynamic block at 2:13-2:17: A dynamic block is made for each element of a collection, ` +
				`and there is none: the value is null.`},
		},
		"dynamic argument": {
			text: dynamic("text", "[]", ""),
			errs: []string{`Unsupported block type at 1:9-1:15: "text" is an argument here, which has its value from an expression: text = ...`},
		},
	})
	testDecode(t, needy(), map[string]decoding{
		"missing": {text: "bsingle {}\nbmin {}\nbmin {}", errs: []string{
			`Missing required argument at 1:1-1:1: This block needs the argument "need".`,
			`Too few blocks at 1:1-1:1: At least 2 blocks of type "bsetmin" must be here.`,
		}},
	})
}

func TestDecodeJSON(t *testing.T) {
	deep := `cty.NullVal(cty.List(cty.Object(map[string]cty.Type{"x":cty.String})))`
	testDecode(t, legacy(), map[string]decoding{
		"blocks": {text: `{"bmin": [{"a": 1}, {"a": "${list[0]}"}]}`, part: "bmin", want: `cty.ListVal([]cty.Value{` +
			`cty.ObjectVal(map[string]cty.Value{"a":cty.StringVal("1"), "b":cty.NullVal(cty.String)}), ` +
			`cty.ObjectVal(map[string]cty.Value{"a":cty.StringVal("a"), "b":cty.NullVal(cty.String)})})`},
		"attribute, not blocks": {
			text: `{"list": [{"a": "x", "deep": null, "n": 1}]}`, part: "list",
			want: `cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"a":cty.StringVal("x"), "deep":` + deep +
				`, "n":cty.NumberIntVal(1)})})`,
		},
		"dynamic": {
			text: `{"dynamic": {"list": {"for_each": ["x"], "content": {"a": "${list.value}"}}}}`, part: "list",
			want: `cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"a":cty.StringVal("x"), "deep":` + deep +
				`, "n":cty.NullVal(cty.Number)})})`,
		},
		"comment": {text: `{"//": "nothing", "text": null}`, part: "text", want: `cty.NullVal(cty.String)`},
	})
}

func TestVariables(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"arguments":         {`text = "${a.b}${c}"`, []string{"a.b", "c"}},
		"not in the schema": {`other = a`, nil},
		"blocks":            {"blist {\n a = x\n inside {\n  a = y\n }\n}", []string{"x", "y"}},
		"iterator":          {dynamic("blist", "each", "a = \"${blist.value}${x}\""), []string{"each", "x"}},
		"name of iterator": {
			"dynamic \"blist\" {\n for_each = each\n iterator = it\n content {\n  a = \"${it.value}${blist.value}\"\n }\n}",
			[]string{"blist.value", "each"},
		},
		"labels":              {labelled("each", "[\"${bmap.key}${x}\"]", ""), []string{"each", "x"}},
		"for_each is outside": {dynamic("blist", "blist.other", "a = blist.value"), []string{"blist.other"}},
		"nested": {
			dynamic("blist", "each", "dynamic \"inside\" {\n for_each = blist.value\n content {\n  a = \"${blist.key}${inside.key}${x}\"\n }\n}"),
			[]string{"each", "x"},
		},
		"wrong dynamic block": {dynamic("other", "each", "a = x"), []string{"each"}},
		"JSON": {
			`{"text": "${a}", "dynamic": {"blist": {"for_each": "${each}", "content": {"a": "${blist.value}${x}"}}}}`,
			[]string{"a", "each", "x"},
		},
	}
	decoder := body.NewDecoder(modern())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, traversal := range decoder.Variables(parse(t, test.text)) {
				got = append(got, traversalText(traversal))
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Variables(%s): %s", test.text, diff)
			}
		})
	}
	blocks := "list {\n a = x\n}\n" + dynamic("set", "each", "a = \"${set.value}${y}\"")
	var got []string
	for _, traversal := range body.NewDecoder(legacy()).Variables(parse(t, blocks)) {
		got = append(got, traversalText(traversal))
	}
	if want := []string{"x", "each", "y"}; !slices.Equal(got, want) {
		t.Errorf("Variables(%s) = %q, want %q", blocks, got, want)
	}
}

func traversalText(traversal hcl.Traversal) string {
	names := []string{traversal.RootName()}
	for _, step := range traversal[1:] {
		if attr, ok := step.(hcl.TraverseAttr); ok {
			names = append(names, attr.Name)
		}
	}
	return strings.Join(names, ".")
}

func TestRange(t *testing.T) {
	const text = `text = "x"
list = [{ a = "x", n = 1 }, { a = "y", n = 2 }]
nested_map = { k = { r = "x" } }
object = local.object
blist {
  a = 1
}
blist {
  inside {
    b = 2
  }
}
bset {
  a = 3
}
bsingle {
  a = 4
}
bmap "k" {
  a = 5
}
dynamic "bmax" {
  for_each = []
  content {
    a = 6
  }
}
`
	root := func(name string) cty.Path { return cty.GetAttrPath(name) }
	tests := map[string]struct {
		path cty.Path
		want string
	}{
		"whole":                    {nil, "1:1-1:1"},
		"argument":                 {root("text"), "1:8-1:11"},
		"missing argument":         {root("number"), "1:1-1:1"},
		"no argument":              {root("nothing"), "1:1-1:1"},
		"element":                  {root("list").IndexInt(1), "2:29-2:47"},
		"attribute of an element":  {root("list").IndexInt(1).GetAttr("n"), "2:44-2:45"},
		"no element":               {root("list").IndexInt(7).GetAttr("n"), "2:8-2:48"},
		"key":                      {root("nested_map").IndexString("k").GetAttr("r"), "3:26-3:29"},
		"into an expression":       {root("object").GetAttr("a"), "4:10-4:22"},
		"block":                    {root("blist").IndexInt(1), "8:1-8:6"},
		"in a block":               {root("blist").IndexInt(0).GetAttr("a"), "6:7-6:8"},
		"missing in a block":       {root("blist").IndexInt(0).GetAttr("b"), "5:7-5:7"},
		"in a block in a block":    {root("blist").IndexInt(1).GetAttr("inside").IndexInt(0).GetAttr("b"), "10:9-10:10"},
		"blocks":                   {root("blist"), "5:1-5:6"},
		"no such block":            {root("blist").IndexInt(5).GetAttr("a"), "5:1-5:6"},
		"missing blocks":           {root("bgroup").GetAttr("a"), "1:1-1:1"},
		"in a set":                 {root("bset").Index(cty.EmptyObjectVal).GetAttr("a"), "13:1-13:5"},
		"in a single block":        {root("bsingle").GetAttr("a"), "17:7-17:8"},
		"by label":                 {root("bmap").IndexString("k").GetAttr("a"), "20:7-20:8"},
		"in a dynamic block":       {root("bmax").IndexInt(3).GetAttr("a"), "25:9-25:10"},
		"dynamic block":            {root("bmax").IndexInt(3), "22:1-22:15"},
		"unknown key is no reason": {root("blist").Index(cty.UnknownVal(cty.Number)), "5:1-5:6"},
	}
	decoder := body.NewDecoder(modern())
	parsed := parse(t, text)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			at := decoder.Range(parsed, test.path)
			got := fmt.Sprintf("%d:%d-%d:%d", at.Start.Line, at.Start.Column, at.End.Line, at.End.Column)
			if got != test.want {
				t.Errorf("Range(%#v) = %s, want %s", test.path, got, test.want)
			}
		})
	}
}

// The remainder of a body, from which others have taken their part, is decoded.
func TestDecodeRemainingBody(t *testing.T) {
	file, diags := hclsyntax.ParseConfig([]byte("count = 2\ntext = \"x\"\nlifecycle {}\nblist {}\n"), "main.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	_, remaining, diags := file.Body.PartialContent(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "count"}}, Blocks: []hcl.BlockHeaderSchema{{Type: "lifecycle"}},
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	got, diags := body.NewDecoder(modern()).Decode(t.Context(), remaining, nil)
	if diags.HasErrors() || !got.GetAttr("text").RawEquals(cty.StringVal("x")) || got.GetAttr("blist").LengthInt() != 1 {
		t.Errorf("Decode of what remains = %#v, %v", got, diags)
	}
}

func BenchmarkDecode(b *testing.B) {
	const nested = `text = "x"
list = [{ a = "x", n = 1 }, { a = list[0], n = 2 }]
nested_map = { k = { r = "x" } }
blist {
  a = list[0]
  inside {
    b = 2
  }
}
bset {
  a = 3
}
dynamic "bmax" {
  for_each = list
  content {
    a = bmax.value
  }
}
`
	for _, bench := range []struct {
		name, text string
		block      *schema.Block
	}{
		{"flat", "input = list[0]\n", builtin.Schema().Managed["terraform_data"].Block},
		{"nested", nested, modern()},
		{"legacy", "text = list[0]\nlist {\n a = 1\n}\n", legacy()},
	} {
		b.Run(bench.name, func(b *testing.B) {
			decoder, parsed := body.NewDecoder(bench.block), parse(b, bench.text)
			b.ReportAllocs()
			for b.Loop() {
				if _, diags := decoder.Decode(b.Context(), parsed, scope); diags.HasErrors() {
					b.Fatal(diags)
				}
			}
		})
	}
}
