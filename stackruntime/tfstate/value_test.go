// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func TestValue(t *testing.T) {
	object := Object{
		Attributes: []byte(`{"id":"i","input":{"value":[1],"type":["list","number"]},"tags":{"a":"b"}}`),
		SensitiveAttributes: []byte(`[[{"type":"get_attr","value":"tags"},{"type":"index","value":{"value":"a","type":"string"}}],` +
			`[{"type":"get_attr","value":"id"}]]`),
	}
	ty := cty.Object(map[string]cty.Type{"id": cty.String, "input": cty.DynamicPseudoType, "tags": cty.Map(cty.String)})
	want := cty.ObjectVal(map[string]cty.Value{
		"id":    cty.StringVal("i").Mark(marks.Sensitive),
		"input": cty.ListVal([]cty.Value{cty.NumberIntVal(1)}),
		"tags":  cty.MapVal(map[string]cty.Value{"a": cty.StringVal("b").Mark(marks.Sensitive)}),
	})
	if got, err := object.Value(ty); err != nil || !got.RawEquals(want) {
		t.Errorf("got %#v, %v; want %#v", got, err, want)
	}
	if got, err := object.Value(cty.NilType); err != nil || !got.GetAttr("id").HasMark(marks.Sensitive) {
		t.Errorf("without a type: got %#v, %v", got, err)
	}
	for name, broken := range map[string]Object{
		"attributes":  {Attributes: []byte(`{"id":`)},
		"other type":  {Attributes: []byte(`{"id":[]}`)},
		"paths":       {Attributes: object.Attributes, SensitiveAttributes: []byte(`[[{"type":"get_attr"}]]`)},
		"path's step": {Attributes: object.Attributes, SensitiveAttributes: []byte(`[[{"type":"splat","value":1}]]`)},
	} {
		if got, err := broken.Value(ty); err == nil {
			t.Errorf("%s: got %#v, want an error", name, got)
		}
	}
}
