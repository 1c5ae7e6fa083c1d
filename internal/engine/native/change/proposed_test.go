// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/providers/schema"
)

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

// example is a schema with parts of all kinds.
func example() *schema.Block {
	return &schema.Block{
		Attributes: []*schema.Attribute{
			{Name: "cfg", Optional: true, Computed: true, Nested: &schema.Object{Nesting: schema.Single, Attributes: []*schema.Attribute{
				optional("a", cty.String), computed("b", cty.String),
			}}},
			computed("id", cty.String), required("name", cty.String), both("size", cty.Number),
		},
		Blocks: []*schema.NestedBlock{
			{Name: "disk", Nesting: schema.List, Block: &schema.Block{Attributes: []*schema.Attribute{
				computed("did", cty.String), both("fmt", cty.String), required("gb", cty.Number),
			}}},
			{Name: "rule", Nesting: schema.Set, Block: &schema.Block{Attributes: []*schema.Attribute{
				required("port", cty.Number), computed("rid", cty.String),
			}}},
		},
	}
}

// values are some parts of an object.
type values map[string]cty.Value

// object returns an empty object of the schema with some of its parts.
func object(block *schema.Block, some values) cty.Value {
	all := block.Empty().AsValueMap()
	for name, value := range some {
		all[name] = value
	}
	return cty.ObjectVal(all)
}

var (
	null    = cty.NullVal(cty.String)
	text    = cty.StringVal
	number  = cty.NumberIntVal
	unknown = cty.UnknownVal(cty.String)
)

func rules(of ...cty.Value) cty.Value { return cty.SetVal(of) }

func rule(port, rid cty.Value) cty.Value {
	return cty.ObjectVal(values{"port": port, "rid": rid})
}

func disks(of ...cty.Value) cty.Value { return cty.ListVal(of) }

func disk(gb int64, did, format cty.Value) cty.Value {
	return cty.ObjectVal(values{"gb": number(gb), "did": did, "fmt": format})
}

func cfg(a, b cty.Value) cty.Value { return cty.ObjectVal(values{"a": a, "b": b}) }

func TestProposedNewExamples(t *testing.T) {
	block := example()
	absent := cty.NullVal(block.Attribute("cfg").ValueType())
	unknownDisks := cty.UnknownVal(block.Nested("disk").ValueType())
	tests := map[string]struct{ prior, config, want values }{
		"create": {
			nil,
			values{"name": text("n"), "rule": rules(rule(number(1), null))},
			values{"name": text("n"), "rule": rules(rule(number(1), null))},
		},
		"computed is kept": {
			values{"id": text("i"), "size": number(3), "name": text("n")},
			values{"name": text("m")},
			values{"id": text("i"), "size": number(3), "name": text("m")},
		},
		"computed nested object is kept": {
			values{"cfg": cfg(null, text("x"))}, values{"cfg": absent}, values{"cfg": cfg(null, text("x"))},
		},
		"configured nested object is removed": {
			values{"cfg": cfg(text("v"), text("x"))}, values{"cfg": absent}, values{"cfg": absent},
		},
		"nested object is changed": {
			values{"cfg": cfg(text("v"), text("x"))}, values{"cfg": cfg(text("w"), null)}, values{"cfg": cfg(text("w"), text("x"))},
		},
		"set by what is not computed": {
			values{"rule": rules(rule(number(1), text("r1")), rule(number(2), text("r2")))},
			values{"rule": rules(rule(number(2), null), rule(number(3), null))},
			values{"rule": rules(rule(number(2), text("r2")), rule(number(3), null))},
		},
		"set with unknown": {
			values{"rule": rules(rule(number(1), text("r1")))},
			values{"rule": rules(rule(cty.UnknownVal(cty.Number), null))},
			values{"rule": rules(rule(cty.UnknownVal(cty.Number), null))},
		},
		"list by position": {
			values{"disk": disks(disk(10, text("d1"), text("x")), disk(20, text("d2"), text("y")))},
			values{"disk": disks(disk(20, null, null))},
			values{"disk": disks(disk(20, text("d1"), text("x")))},
		},
		"longer list": {
			values{"disk": disks(disk(10, text("d1"), text("x")))},
			values{"disk": disks(disk(10, null, null), disk(5, null, null))},
			values{"disk": disks(disk(10, text("d1"), text("x")), disk(5, null, null))},
		},
		"unknown blocks": {
			values{"disk": disks(disk(10, text("d1"), text("x")))}, values{"disk": unknownDisks}, values{"disk": unknownDisks},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			prior, config := cty.NullVal(block.Type()), object(block, test.config)
			if test.prior != nil {
				prior = object(block, test.prior)
			}
			want := object(block, test.want)
			if got := change.ProposedNew(block, prior, config); !got.RawEquals(want) {
				t.Errorf("ProposedNew(%#v, %#v)\n got %#v\nwant %#v", prior, config, got, want)
			}
		})
	}
}

func TestPlannedUnknownExample(t *testing.T) {
	block := example()
	config := object(block, values{"name": text("n"), "rule": rules(rule(number(1), null)), "disk": disks(disk(1, null, null))})
	want := object(block, values{
		"name": text("n"), "id": unknown, "size": cty.UnknownVal(cty.Number), "cfg": cty.UnknownVal(block.Attribute("cfg").ValueType()),
		"rule": rules(rule(number(1), null)), "disk": disks(disk(1, unknown, unknown)),
	})
	if got := change.PlannedUnknown(block, config); !got.RawEquals(want) {
		t.Errorf("PlannedUnknown(%#v)\n got %#v\nwant %#v", config, got, want)
	}
}
