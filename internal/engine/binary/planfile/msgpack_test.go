// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/internal/document/terraformjson"
)

func TestDecodeValueCodes(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		ty   cty.Type
		want any
	}{
		"null":                {"\xc0", cty.NilType, nil},
		"false":               {"\xc2", cty.NilType, false},
		"positive fixint":     {"\x7f", cty.NilType, json.Number("127")},
		"negative fixint":     {"\xe0", cty.NilType, json.Number("-32")},
		"uint8":               {"\xcc\xff", cty.NilType, json.Number("255")},
		"uint64":              {"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", cty.NilType, json.Number("18446744073709551615")},
		"int8":                {"\xd0\x80", cty.NilType, json.Number("-128")},
		"int16":               {"\xd1\xff\x00", cty.NilType, json.Number("-256")},
		"int32":               {"\xd2\x80\x00\x00\x00", cty.NilType, json.Number("-2147483648")},
		"int64":               {"\xd3\x7f\xff\xff\xff\xff\xff\xff\xff", cty.NilType, json.Number("9223372036854775807")},
		"float32":             {"\xca\x3f\xc0\x00\x00", cty.NilType, json.Number("1.5")},
		"float64":             {"\xcb\xbf\xf8\x00\x00\x00\x00\x00\x00", cty.NilType, json.Number("-1.5")},
		"infinity":            {"\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00", cty.NilType, "+Inf"},
		"number as a string":  {"\xa30.1", cty.Number, json.Number("0.1")},
		"the same, untyped":   {"\xa30.1", cty.NilType, "0.1"},
		"the same, a string":  {"\xa30.1", cty.String, "0.1"},
		"no number":           {"\xa4true", cty.Number, "true"},
		"nor this":            {"\xa2 1", cty.Number, " 1"},
		"str8":                {"\xd9\x01a", cty.NilType, "a"},
		"array16":             {"\xdc\x00\x01\x01", cty.NilType, []any{json.Number("1")}},
		"map16":               {"\xde\x00\x01\xa1k\x01", cty.NilType, map[string]any{"k": json.Number("1")}},
		"unknown in a list":   {"\x92\xd4\x00\x00\x01", cty.NilType, []any{nil, json.Number("1")}},
		"unknown in a map":    {"\x82\xa1a\xc7\x03\x0c\x81\x01\xc2\xa1b\x01", cty.NilType, map[string]any{"b": json.Number("1")}},
		"other than its type": {"\x81\xa1a\x01", cty.List(cty.String), map[string]any{"a": json.Number("1")}},
		"typed as it goes":    {"\x92\xc4\x11[\"list\",\"number\"]\x91\xa30.1", cty.NilType, []any{json.Number("0.1")}},
	} {
		v, err := decodeValue([]byte(c.data), place{ty: c.ty})
		if err != nil {
			t.Errorf("%s: %s", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, terraformjson.Value(v)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// FuzzDecodeValue compares with cty's decoding of the same value.
func FuzzDecodeValue(f *testing.F) {
	for _, doc := range []string{
		`null`, `true`, `[1,0.1,-1e-30,123456789012345678901234567890]`, `{"a":{"b":["c",null,{}]},"d":[]}`,
		`"` + strings.Repeat("x", 300) + `"`, `["` + strings.Repeat(`1","`, 70) + `"]`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if len(doc) > 2000 { // beyond that, cty's numbers take seconds
			return
		}
		ty, err := ctyjson.ImpliedType(doc)
		if err != nil {
			return
		}
		v, err := ctyjson.Unmarshal(doc, ty)
		if err != nil {
			return
		}
		data, err := msgpack.Marshal(v, cty.DynamicPseudoType)
		if err != nil {
			return
		}
		got, err := decodeValue(data, place{ty: cty.DynamicPseudoType})
		if err != nil {
			t.Fatalf("decodeValue of %#v: %s", v, err)
		}
		v, err = msgpack.Unmarshal(data, cty.DynamicPseudoType) // which has lost the sign of zero, if there was one
		if err != nil {
			return
		}
		if !got.RawEquals(v) {
			t.Errorf("%s: got %#v, want %#v", doc, got, v)
		}
		want, err := ctyjson.Marshal(v, ty)
		if err != nil {
			return
		}
		if diff := cmp.Diff(decodeJSON(t, want), asJSON(t, terraformjson.Value(got))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", doc, diff)
		}
	})
}
