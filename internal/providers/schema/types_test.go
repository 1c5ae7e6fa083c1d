// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schema_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
)

func attribute(name string, ty cty.Type) *schema.Attribute {
	return &schema.Attribute{Name: name, Type: ty, Optional: true}
}

func blocks(name string, nesting schema.Nesting, attributes ...*schema.Attribute) *schema.NestedBlock {
	return &schema.NestedBlock{Name: name, Nesting: nesting, Block: &schema.Block{Attributes: attributes}}
}

func TestTypes(t *testing.T) {
	inner := cty.Object(map[string]cty.Type{"a": cty.String})
	varying := cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType})
	text, anything := attribute("a", cty.String), attribute("a", cty.DynamicPseudoType)
	tests := []struct {
		nested *schema.NestedBlock
		ty     cty.Type
		absent cty.Value
	}{
		{blocks("b", schema.Single, text), inner, cty.NullVal(inner)},
		{blocks("b", schema.Group, text), inner, cty.ObjectVal(map[string]cty.Value{"a": cty.NullVal(cty.String)})},
		{blocks("b", schema.List, text), cty.List(inner), cty.ListValEmpty(inner)},
		{blocks("b", schema.Set, text), cty.Set(inner), cty.SetValEmpty(inner)},
		{blocks("b", schema.Map, text), cty.Map(inner), cty.MapValEmpty(inner)},
		{blocks("b", schema.Single, anything), varying, cty.NullVal(varying)},
		{blocks("b", schema.List, anything), cty.DynamicPseudoType, cty.EmptyTupleVal},
		{blocks("b", schema.Map, anything), cty.DynamicPseudoType, cty.EmptyObjectVal},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s of %#v", test.nested.Nesting, test.nested.Block.Type()), func(t *testing.T) {
			block := &schema.Block{Attributes: []*schema.Attribute{attribute("c", cty.Number)}, Blocks: []*schema.NestedBlock{test.nested}}
			if got, want := block.Type(), cty.Object(map[string]cty.Type{"b": test.ty, "c": cty.Number}); !got.Equals(want) {
				t.Errorf("Type() = %#v, want %#v", got, want)
			}
			if got, want := block.Empty(), cty.ObjectVal(map[string]cty.Value{
				"b": test.absent,
				"c": cty.NullVal(cty.Number),
			}); !got.RawEquals(want) {
				t.Errorf("Empty() = %#v, want %#v", got, want)
			}
		})
	}
}

func TestTypesOfNestedAttributes(t *testing.T) {
	inner := cty.Object(map[string]cty.Type{"a": cty.String, "r": cty.String})
	optional := cty.ObjectWithOptionalAttrs(map[string]cty.Type{"a": cty.String, "r": cty.String}, []string{"a"})
	for nesting, want := range map[schema.Nesting][2]cty.Type{
		schema.Single: {inner, optional},
		schema.List:   {cty.List(inner), cty.List(optional)},
		schema.Set:    {cty.Set(inner), cty.Set(optional)},
		schema.Map:    {cty.Map(inner), cty.Map(optional)},
	} {
		attr := &schema.Attribute{Name: "n", Nested: &schema.Object{Nesting: nesting, Attributes: []*schema.Attribute{
			attribute("a", cty.String), {Name: "r", Type: cty.String, Required: true},
		}}}
		if got := attr.ValueType(); !got.Equals(want[0]) {
			t.Errorf("ValueType() of a nested %s = %#v, want %#v", nesting, got, want[0])
		}
		if got := attr.ConfigType(); !got.Equals(want[1]) {
			t.Errorf("ConfigType() of a nested %s = %#v, want %#v", nesting, got, want[1])
		}
	}
}

// Schemas are read by many at the same time. The race detector sees this.
func TestTypesConcurrently(t *testing.T) {
	block := &schema.Block{Blocks: []*schema.NestedBlock{blocks("b", schema.Single, attribute("a", cty.String))}}
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			if !block.Empty().Type().Equals(block.Type()) {
				t.Errorf("Empty() is no %#v", block.Type())
			}
		})
	}
	readers.Wait()
}

func TestPaths(t *testing.T) {
	secret := func(name string) *schema.Attribute {
		return &schema.Attribute{Name: name, Type: cty.String, Optional: true, Sensitive: true}
	}
	in := func(name string, nesting schema.Nesting) *schema.Attribute {
		return &schema.Attribute{
			Name:   name,
			Nested: &schema.Object{Nesting: nesting, Attributes: []*schema.Attribute{attribute("a", cty.String), secret("s")}},
		}
	}
	write := secret("write")
	write.Sensitive, write.WriteOnly = false, true
	block := &schema.Block{
		Attributes: []*schema.Attribute{
			attribute("a", cty.String), in("list", schema.List), in("map", schema.Map), in("set", schema.Set), secret("top"), write,
		},
		Blocks: []*schema.NestedBlock{
			blocks("block", schema.List, secret("s")),
			blocks("one", schema.Single, secret("s")),
			blocks("sets", schema.Set, secret("s")),
		},
	}
	pair := cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x"), "s": cty.NullVal(cty.String)})
	single := cty.ObjectVal(map[string]cty.Value{"s": cty.StringVal("x")})
	object := cty.ObjectVal(map[string]cty.Value{
		"a": cty.StringVal("x"), "top": cty.NullVal(cty.String), "write": cty.StringVal("x"),
		"list": cty.ListVal([]cty.Value{pair, pair}), "map": cty.MapVal(map[string]cty.Value{"k": pair}), "set": cty.SetVal([]cty.Value{pair}),
		"block": cty.ListVal([]cty.Value{single}), "one": cty.NullVal(single.Type()), "sets": cty.SetVal([]cty.Value{single}),
	})
	tests := map[string]struct {
		got  []cty.Path
		want []string
	}{
		"sensitive": {
			block.SensitivePaths(object),
			[]string{".block[0].s", ".list[0].s", ".list[1].s", `.map["k"].s`, ".set", ".sets", ".top"},
		},
		"sensitive, empty":      {block.SensitivePaths(block.Empty()), []string{".top"}},
		"sensitive, null":       {block.SensitivePaths(cty.NullVal(block.Type())), nil},
		"write-only":            {block.WriteOnlyPaths(object), []string{".write"}},
		"write-only, none":      {blocks("b", schema.List, secret("s")).Block.WriteOnlyPaths(single), nil},
		"sensitive, without it": {(&schema.Block{Attributes: []*schema.Attribute{write}}).SensitivePaths(object), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, path := range test.got {
				got = append(got, describe(path))
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDeprecations(t *testing.T) {
	old := func(name, message string) *schema.Attribute {
		return &schema.Attribute{Name: name, Type: cty.String, Optional: true, Deprecated: true, Deprecation: message}
	}
	in := func(name string, nesting schema.Nesting) *schema.Attribute {
		return &schema.Attribute{
			Name:   name,
			Nested: &schema.Object{Nesting: nesting, Attributes: []*schema.Attribute{attribute("a", cty.String), old("o", "in "+name)}},
		}
	}
	dropped := blocks("dropped", schema.List, old("o", "not found inside of a deprecated block"))
	dropped.Block.Deprecated, dropped.Block.Deprecation = true, "Use kept."
	nameless := blocks("nameless", schema.Single, attribute("a", cty.String))
	nameless.Block.Deprecated = true
	block := &schema.Block{
		Attributes: []*schema.Attribute{
			attribute("a", cty.String), in("list", schema.List), in("map", schema.Map), in("set", schema.Set), old("top", ""),
		},
		Blocks: []*schema.NestedBlock{blocks("kept", schema.List, old("o", "in kept")), dropped, nameless},
	}
	pair := cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x"), "o": cty.NullVal(cty.String)})
	single := cty.ObjectVal(map[string]cty.Value{"o": cty.StringVal("x")})
	object := cty.ObjectVal(map[string]cty.Value{
		"a": cty.StringVal("x"), "top": cty.NullVal(cty.String),
		"list": cty.ListVal([]cty.Value{pair, pair}), "map": cty.MapVal(map[string]cty.Value{"k": pair}), "set": cty.SetVal([]cty.Value{pair}),
		"kept": cty.ListVal([]cty.Value{single}), "dropped": cty.ListVal([]cty.Value{single}), "nameless": cty.NullVal(nameless.Block.Type()),
	})
	const (
		dropping = ".dropped: Use kept."
		unnamed  = `.nameless: The provider will drop "nameless".`
		top      = `.top: The provider will drop "top".`
	)
	whole := &schema.Block{Attributes: block.Attributes, Deprecated: true, Deprecation: "Use another."}
	silent := &schema.Block{Deprecated: true}
	plain := &schema.Block{Attributes: []*schema.Attribute{attribute("a", cty.String)}}
	around := &schema.Block{Blocks: []*schema.NestedBlock{blocks("b", schema.List, attribute("a", cty.String))}}
	tests := map[string]struct {
		block  *schema.Block
		object cty.Value
		want   []string
	}{
		"inside": {block, object, []string{
			dropping, ".kept[0].o: in kept", ".list[0].o: in list", ".list[1].o: in list", `.map["k"].o: in map`, unnamed, ".set: in set", top,
		}},
		"empty":                   {block, block.Empty(), []string{dropping, unnamed, top}},
		"null":                    {block, cty.NullVal(block.Type()), nil},
		"unknown":                 {block, cty.UnknownVal(block.Type()), nil},
		"type":                    {whole, cty.UnknownVal(whole.Type()), []string{": Use another."}},
		"type, without a message": {silent, silent.Empty(), []string{": The provider will drop objects of this type."}},
		"nothing":                 {plain, plain.Empty(), nil},
		"nothing, in a block":     {around, around.Empty(), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, part := range test.block.Deprecations(test.object) {
				got = append(got, describe(part.Path)+": "+part.Message)
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if !test.object.IsKnown() || test.object.IsNull() {
				return
			}
			if got, want := test.block.HasDeprecated(), test.want != nil; got != want {
				t.Errorf("HasDeprecated() = %t, want %t", got, want)
			}
		})
	}
}

func describe(path cty.Path) string {
	var text string
	for _, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			text += "." + step.Name
		case cty.IndexStep:
			if step.Key.Type() == cty.String {
				text += fmt.Sprintf("[%q]", step.Key.AsString())
			} else {
				text += "[" + step.Key.AsBigFloat().String() + "]"
			}
		}
	}
	return text
}

func TestFindByName(t *testing.T) {
	block := &schema.Block{
		Attributes: []*schema.Attribute{attribute("a", cty.String), attribute("c", cty.String)},
		Blocks:     []*schema.NestedBlock{blocks("b", schema.List)},
	}
	object := &schema.Object{Attributes: block.Attributes}
	if got := block.Attribute("c"); got != block.Attributes[1] {
		t.Errorf("Attribute(c) = %v", got)
	}
	if got := object.Attribute("a"); got != block.Attributes[0] {
		t.Errorf("Attribute(a) of the object = %v", got)
	}
	if got := block.Nested("b"); got != block.Blocks[0] {
		t.Errorf("Nested(b) = %v", got)
	}
	if block.Attribute("b") != nil || block.Nested("a") != nil || object.Attribute("b") != nil {
		t.Error("names are found that are not there")
	}
}

// BenchmarkDecode decodes the schemas of a provider with 1 000 types of resources, of 60 attributes
// each.
func BenchmarkDecode(b *testing.B) {
	types := []string{
		`"string"`,
		`"bool"`,
		`"number"`,
		`["map","string"]`,
		`["set","string"]`,
		`["list",["object",{"name":"string","ports":["list","number"]}]]`,
	}
	block := &pluginv1.Block{}
	for i := range 60 {
		block.Attributes = append(block.Attributes, &pluginv1.Attribute{
			Name:     fmt.Sprint("attribute_", i),
			Type:     []byte(types[i%len(types)]),
			Optional: true,
		})
	}
	answer := &pluginv1.SchemaResponse{Provider: &pluginv1.Schema{Block: &pluginv1.Block{}}, ResourceSchemas: map[string]*pluginv1.Schema{}}
	for i := range 1000 {
		answer.ResourceSchemas[fmt.Sprint("test_", i)] = &pluginv1.Schema{Block: block}
	}
	for b.Loop() {
		if _, err := schema.Decode(answer); err != nil {
			b.Fatal(err)
		}
	}
}
