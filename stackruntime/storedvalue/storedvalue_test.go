// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package storedvalue

import (
	"bytes"
	"errors"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
	"google.golang.org/protobuf/proto"

	valuev1 "github.com/cairnstacks/cairn/proto/cairn/value/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/safevalue"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

var storable = map[string]cty.Value{
	"string":           cty.StringVal("ünïcode\x00"),
	"number":           cty.MustParseNumberVal("12345678901234567890.123456789"),
	"infinity":         cty.PositiveInfinity,
	"bool":             cty.False,
	"null":             cty.NullVal(cty.Map(cty.String)),
	"null of any type": cty.NullVal(cty.DynamicPseudoType),
	"unknown":          cty.UnknownVal(cty.List(cty.Bool)),
	"unknown type":     cty.DynamicVal,
	"refined":          cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull("abc-").NewValue(),
	"unknown number in a range": cty.UnknownVal(cty.Number).Refine().NotNull().
		NumberRangeLowerBound(cty.NumberIntVal(3), true).NewValue(),
	"numbers": cty.TupleVal([]cty.Value{
		cty.Zero, cty.NumberIntVal(-1), cty.NumberIntVal(200), cty.NumberIntVal(-70000), cty.NumberIntVal(1 << 40), cty.NumberFloatVal(0.5),
		cty.MustParseNumberVal("1e300"), cty.MustParseNumberVal("0.1"), cty.NumberUIntVal(1 << 63), cty.NegativeInfinity,
	}),
	"empty list":   cty.ListValEmpty(cty.String),
	"empty object": cty.EmptyObjectVal,
	"set":          cty.SetVal([]cty.Value{cty.StringVal("b"), cty.StringVal("a")}),
	"odd names":    cty.ObjectVal(map[string]cty.Value{"": cty.True, "<\"&>": cty.MapVal(map[string]cty.Value{"\u2028": cty.True})}),
	"null inside": cty.ObjectVal(map[string]cty.Value{
		"o": cty.NullVal(cty.Object(map[string]cty.Type{"d": cty.DynamicPseudoType})), "u": cty.UnknownVal(cty.Set(cty.String)),
	}),
	"deep": cty.ObjectVal(map[string]cty.Value{
		"list":  cty.ListVal([]cty.Value{cty.StringVal("x").Mark(marks.Sensitive), cty.UnknownVal(cty.String)}),
		"map":   cty.MapVal(map[string]cty.Value{"a.b": cty.True, "c": cty.False.Mark(marks.Sensitive)}),
		"tuple": cty.TupleVal([]cty.Value{cty.DynamicVal, cty.NullVal(cty.DynamicPseudoType), cty.EmptyTupleVal}),
		"set":   cty.SetVal([]cty.Value{cty.True}).Mark(marks.Sensitive),
	}),
	"sensitive in sensitive": cty.ObjectVal(map[string]cty.Value{
		"a": cty.ListVal([]cty.Value{cty.Zero, cty.Zero.Mark(marks.Sensitive)}).Mark(marks.Sensitive), "b": cty.True.Mark(marks.Sensitive),
	}).Mark(marks.Sensitive),
	"sensitive": cty.ObjectVal(map[string]cty.Value{"a": cty.Zero}).Mark(marks.Sensitive),
}

func TestRoundTrip(t *testing.T) {
	for name, want := range storable {
		t.Run(name, func(t *testing.T) {
			stored, err := Encode(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(stored)
			if err != nil || !got.RawEquals(want) {
				t.Errorf("Decode(Encode(v)) = %#v, %v, want %#v", got, err, want)
			}
		})
	}
}

// Values are encoded as cty itself encodes them.
func TestEncodingOfCty(t *testing.T) {
	for name, v := range storable {
		t.Run(name, func(t *testing.T) {
			bare, _ := v.UnmarkDeep()
			want, err := ctymsgpack.Marshal(bare, cty.DynamicPseudoType)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := encodeDynamic(bare)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
}

func TestMapRoundTrip(t *testing.T) {
	stored, err := EncodeMap(storable)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeMap(stored)
	if err != nil || len(got) != len(storable) {
		t.Fatalf("DecodeMap = %v, %v", got, err)
	}
	for name, want := range storable {
		if !got[name].RawEquals(want) {
			t.Errorf("%s: got %#v, want %#v", name, got[name], want)
		}
	}
}

func TestAbsentValue(t *testing.T) {
	if stored, err := Encode(cty.NilVal); stored != nil || err != nil {
		t.Errorf("Encode(NilVal) = %v, %v, want nil", stored, err)
	}
	if v, err := Decode(nil); v != cty.NilVal || err != nil {
		t.Errorf("Decode(nil) = %#v, %v, want NilVal", v, err)
	}
}

func TestUnstorable(t *testing.T) {
	ref := stackconfig.ProviderRef(stackaddrs.AbsProviderConfigInstance{})
	for name, v := range map[string]cty.Value{
		"ephemeral":          cty.True.Mark(marks.Ephemeral),
		"ephemeral inside":   cty.TupleVal([]cty.Value{cty.UnknownVal(cty.String).Mark(marks.Ephemeral)}),
		"foreign mark":       cty.TupleVal([]cty.Value{cty.True.Mark("foreign")}),
		"provider reference": ref,
	} {
		t.Run(name, func(t *testing.T) {
			stored, err := Encode(v)
			if err == nil {
				t.Fatalf("Encode = %v, want an error", stored)
			}
			if marks.Contains(v, marks.Ephemeral) && !errors.Is(err, ErrEphemeral) {
				t.Errorf("got %v, want %v", err, ErrEphemeral)
			}
			if _, err := EncodeMap(map[string]cty.Value{"x": v}); err == nil {
				t.Error("EncodeMap: no error")
			}
		})
	}
}

func TestDamagedValues(t *testing.T) {
	noStep := &valuev1.AttributePath{Steps: []*valuev1.AttributePath_Step{{}}}
	for name, stored := range map[string]*valuev1.DynamicValue{
		"empty":       {},
		"no msgpack":  {Msgpack: []byte{0xc1}},
		"no type":     {Msgpack: []byte{0x92, 0xc4, 0x01, '{', 0xc0}},
		"cut short":   {Msgpack: []byte("\x92\xc4\x08\"string\"")},
		"wrong type":  {Msgpack: []byte("\x92\xc4\x06\"bool\"\x05")},
		"no kind":     {Msgpack: []byte{0xc0}, Sensitive: []*valuev1.AttributePath{noStep}},
		"no number":   {Msgpack: []byte("\x92\xc4\x08\"number\"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00")},
		"other array": {Msgpack: []byte{0x93, 0xc0, 0xc0, 0xc0}},
	} {
		t.Run(name, func(t *testing.T) {
			if v, err := Decode(stored); err == nil {
				t.Errorf("Decode = %#v, want an error", v)
			}
		})
	}
}

func unmarshalWithCty(raw []byte) (cty.Value, error) {
	return safevalue.Unmarshal(raw, cty.DynamicPseudoType)
}

// The decoded value is the one that cty itself decodes, errors included.
func FuzzDecode(f *testing.F) {
	for _, v := range storable {
		stored, err := Encode(v)
		if err != nil {
			f.Fatal(err)
		}
		raw, err := proto.Marshal(stored)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var stored valuev1.DynamicValue
		if proto.Unmarshal(raw, &stored) != nil {
			return
		}
		got, err := decodeDynamic(stored.GetMsgpack())
		want, wantErr := unmarshalWithCty(stored.GetMsgpack())
		if (err == nil) != (wantErr == nil) || err == nil && !got.RawEquals(want) {
			t.Fatalf("got %#v, %v, want as cty %#v, %v", got, err, want, wantErr)
		}
		v, err := Decode(&stored)
		if err != nil {
			return
		}
		again, err := Encode(v)
		if err != nil {
			t.Fatalf("%#v cannot be stored: %v", v, err)
		}
		back, err := Decode(again)
		if err != nil {
			t.Fatalf("%#v was stored and cannot be read: %v", v, err)
		}
		// Refinements that say nothing are not stored, so the values can differ in them.
		if stored, err := Encode(back); err != nil || !proto.Equal(stored, again) {
			t.Errorf("round trip: got %#v, %v, want %#v", back, err, v)
		}
	})
}
