// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package safevalue

import (
	"math"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
)

func TestUnmarshal(t *testing.T) {
	many := make([]cty.Value, 70_000)
	for i := range many {
		many[i] = cty.NumberIntVal(int64(i) << 20)
	}
	for _, want := range []cty.Value{
		cty.NullVal(cty.DynamicPseudoType), cty.True, cty.StringVal(strings.Repeat("x", 70_000)), cty.StringVal(strings.Repeat("x", 300)),
		cty.NumberFloatVal(math.Pi), cty.NumberIntVal(-5), cty.NumberIntVal(math.MinInt64), cty.ListVal(many),
		cty.UnknownVal(cty.String).RefineNotNull(), cty.UnknownVal(cty.Map(cty.String)),
		cty.ObjectVal(map[string]cty.Value{"a": cty.EmptyTupleVal, "b": cty.MapVal(map[string]cty.Value{"k": cty.StringVal("v")})}),
	} {
		data, err := ctymsgpack.Marshal(want, cty.DynamicPseudoType)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Unmarshal(data, cty.DynamicPseudoType); err != nil || !got.RawEquals(want) {
			t.Errorf("got %#v, error %v, want %#v", got, err, want)
		}
	}
}

func TestHostile(t *testing.T) {
	for name, data := range map[string]string{
		"nothing":       "",
		"long list":     "\x92\xc4\x0f[\"list\",\"bool\"]\xdd\xff\xff\xff\xff",
		"long map":      "\x92\xc4\x0e[\"map\",\"bool\"]\xdf\xff\xff\xff\xff",
		"long string":   "\xdb\xff\xff\xff\xff",
		"deep":          strings.Repeat("\x91", maxDepth+2) + "\xc0",
		"many elements": "\xdd\x00\x50\x00\x00" + strings.Repeat("\xc0", 0x500000),
		"unused head":   "\xc1",
		"cut":           "\xcf\x00",
	} {
		if err := Check([]byte(data)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A map without elements is no object that has attributes, wherever it stands.
func TestOtherType(t *testing.T) {
	object := cty.Object(map[string]cty.Type{"a": cty.String})
	for name, test := range map[string]struct {
		data string
		ty   cty.Type
	}{
		"object":     {"\x80", object},
		"in a tuple": {"\x91\x80", cty.Tuple([]cty.Type{object})},
		"in a list":  {"\x91\x80", cty.List(object)},
	} {
		if v, err := Unmarshal([]byte(test.data), test.ty); err == nil {
			t.Errorf("%s: got %#v, want an error", name, v)
		}
	}
	if v, err := Unmarshal([]byte("\x80"), cty.EmptyObject); err != nil || !v.RawEquals(cty.EmptyObjectVal) {
		t.Errorf("empty object: got %#v, error %v", v, err)
	}
}

// Whatever it is, there is a value or an error.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte("\x92\xc4\x0f[\"list\",\"bool\"]\x92\xc2\xc3"))
	f.Add([]byte("\x92\xc4\x08\"number\"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x92\xc4\x08\"string\"\xc7\x00\x00"))
	f.Add([]byte("\x92\xc4\x09\"dynamic\"\x92\xc4\x09\"dynamic\"\xc0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Unmarshal(data, cty.DynamicPseudoType)
		if (v == cty.NilVal) != (err != nil) {
			t.Errorf("value %#v and error %v", v, err)
		}
	})
}
