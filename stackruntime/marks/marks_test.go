// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package marks

import (
	"fmt"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

var (
	secret    = cty.StringVal("secret").Mark(Sensitive)
	fleeting  = cty.StringVal("fleeting").Mark(Ephemeral)
	both      = cty.StringVal("both").Mark(Sensitive).Mark(Ephemeral)
	plain     = cty.StringVal("plain")
	manyParts = cty.ObjectVal(map[string]cty.Value{
		"zeta":  secret,
		"alpha": both,
		"plain": plain,
		"list":  cty.ListVal([]cty.Value{plain, secret, fleeting}),
		"map":   cty.MapVal(map[string]cty.Value{"b": secret, "a": fleeting, "c": plain}),
		"tuple": cty.TupleVal([]cty.Value{cty.NullVal(cty.String).Mark(Sensitive), cty.UnknownVal(cty.Bool).Mark(Ephemeral)}),
		"set":   cty.SetVal([]cty.Value{plain, secret}),
	})
)

func TestMarkNames(t *testing.T) {
	if got, want := fmt.Sprintf("%s %s %#v %#v", Sensitive, Ephemeral,
		Sensitive, Ephemeral), "sensitive ephemeral marks.Sensitive marks.Ephemeral"; got != want {
		t.Errorf("names: got %q, want %q", got, want)
	}
}

func TestHasAndContains(t *testing.T) {
	inList := cty.ListVal([]cty.Value{plain, secret})
	tests := []struct {
		name          string
		value         cty.Value
		mark          Mark
		has, contains bool
	}{
		{"nil value", cty.NilVal, Sensitive, false, false},
		{"plain", plain, Sensitive, false, false},
		{"own mark", secret, Sensitive, true, true},
		{"other mark", secret, Ephemeral, false, false},
		{"one of two", both, Ephemeral, true, true},
		{"inside", inList, Sensitive, false, true},
		{"other mark inside", inList, Ephemeral, false, false},
		{"set takes the mark of its element", cty.SetVal([]cty.Value{secret}), Sensitive, true, true},
		{"unknown", cty.DynamicVal.Mark(Ephemeral), Ephemeral, true, true},
		{"null", cty.NullVal(cty.String).Mark(Sensitive), Sensitive, true, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Has(test.value, test.mark); got != test.has {
				t.Errorf("Has(%#v, %s) = %t, want %t", test.value, test.mark, got, test.has)
			}
			if got := Contains(test.value, test.mark); got != test.contains {
				t.Errorf("Contains(%#v, %s) = %t, want %t", test.value, test.mark, got, test.contains)
			}
		})
	}
}

func TestHidden(t *testing.T) {
	type foreign string
	other := plain.Mark(foreign("another mark"))
	for name, test := range map[string]struct {
		value cty.Value
		want  bool
	}{
		"nil value":                 {cty.NilVal, false},
		"plain":                     {plain, false},
		"sensitive":                 {secret, true},
		"ephemeral":                 {fleeting, true},
		"sensitive inside":          {cty.TupleVal([]cty.Value{plain, secret}), true},
		"ephemeral inside":          {cty.TupleVal([]cty.Value{plain, fleeting}), true},
		"another mark":              {other, false},
		"another mark inside":       {cty.TupleVal([]cty.Value{plain, other}), false},
		"another mark next to ours": {other.Mark(Sensitive), true},
	} {
		if got := Hidden(test.value); got != test.want {
			t.Errorf("%s: Hidden(%#v) = %t, want %t", name, test.value, got, test.want)
		}
	}
}

func TestSplitSortsPathsByMark(t *testing.T) {
	// Many rounds, because the order of Go maps must not show through.
	for range 20 {
		bare, sensitive, ephemeral := Split(manyParts)
		if bare.ContainsMarked() {
			t.Fatalf("Split left marks: %#v", bare)
		}
		wantSensitive := []cty.Path{
			cty.GetAttrPath("alpha"),
			cty.GetAttrPath("list").IndexInt(1),
			cty.GetAttrPath("map").IndexString("b"),
			cty.GetAttrPath("set"),
			cty.GetAttrPath("tuple").IndexInt(0),
			cty.GetAttrPath("zeta"),
		}
		wantEphemeral := []cty.Path{
			cty.GetAttrPath("alpha"),
			cty.GetAttrPath("list").IndexInt(2),
			cty.GetAttrPath("map").IndexString("a"),
			cty.GetAttrPath("tuple").IndexInt(1),
		}
		if !EqualPaths(sensitive, wantSensitive) {
			t.Fatalf("sensitive paths: got %#v, want %#v", sensitive, wantSensitive)
		}
		if !EqualPaths(ephemeral, wantEphemeral) {
			t.Fatalf("ephemeral paths: got %#v, want %#v", ephemeral, wantEphemeral)
		}
		if got := Paths(manyParts, Ephemeral); !EqualPaths(got, wantEphemeral) {
			t.Fatalf("Paths: got %#v, want %#v", got, wantEphemeral)
		}
	}
}

func TestJoinUndoesSplit(t *testing.T) {
	values := map[string]cty.Value{
		"plain":            plain,
		"whole":            manyParts.Mark(Sensitive),
		"parts":            manyParts,
		"unknown":          cty.UnknownVal(cty.List(cty.String)).Mark(Ephemeral),
		"null":             cty.NullVal(cty.EmptyObject).Mark(Sensitive),
		"empty collection": cty.ListValEmpty(cty.String).Mark(Sensitive),
		"nested":           cty.TupleVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"a": secret}).Mark(Ephemeral)}),
	}
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			bare, sensitive, ephemeral := Split(value)
			got := Join(bare, sensitive, ephemeral)
			if !got.RawEquals(value) {
				t.Errorf("Join(Split(v)): got %#v, want %#v", got, value)
			}
		})
	}
}

func TestSplitKeepsForeignMarks(t *testing.T) {
	value := cty.TupleVal([]cty.Value{plain.Mark("foreign").Mark(Sensitive)})
	bare, sensitive, ephemeral := Split(value)
	if want := cty.TupleVal([]cty.Value{plain.Mark("foreign")}); !bare.RawEquals(want) {
		t.Errorf("bare value: got %#v, want %#v", bare, want)
	}
	if len(sensitive) != 1 || ephemeral != nil {
		t.Errorf("paths: got %#v and %#v, want one sensitive path and no ephemeral one", sensitive, ephemeral)
	}
}

func TestMarkPaths(t *testing.T) {
	object := cty.ObjectVal(map[string]cty.Value{
		"known":   cty.ObjectVal(map[string]cty.Value{"a": plain}),
		"unknown": cty.UnknownVal(cty.Object(map[string]cty.Type{"a": cty.String})),
		"null":    cty.NullVal(cty.Object(map[string]cty.Type{"a": cty.String})),
		"set":     cty.SetVal([]cty.Value{plain}),
	})
	tests := []struct {
		name string
		path cty.Path
		want []cty.Path
	}{
		{"whole value", cty.Path{}, []cty.Path{{}}},
		{"part", cty.GetAttrPath("known").GetAttr("a"), []cty.Path{cty.GetAttrPath("known").GetAttr("a")}},
		{"into unknown", cty.GetAttrPath("unknown").GetAttr("a"), []cty.Path{cty.GetAttrPath("unknown")}},
		{"into null", cty.GetAttrPath("null").GetAttr("a"), nil},
		{"missing attribute", cty.GetAttrPath("missing"), nil},
		{"missing index", cty.GetAttrPath("known").IndexInt(3), nil},
		{"element of a set", cty.GetAttrPath("set").Index(plain), []cty.Path{cty.GetAttrPath("set")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Paths(MarkPaths(object, Sensitive, []cty.Path{test.path}), Sensitive)
			if !EqualPaths(got, test.want) {
				t.Errorf("MarkPaths at %#v marked %#v, want %#v", test.path, got, test.want)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	value := cty.TupleVal([]cty.Value{both, secret}).Mark(Sensitive).Mark(Ephemeral)

	wantDeep := cty.TupleVal([]cty.Value{cty.StringVal("both").Mark(Ephemeral), cty.StringVal("secret")}).Mark(Ephemeral)
	if got := Remove(value, Sensitive); !got.RawEquals(wantDeep) {
		t.Errorf("Remove: got %#v, want %#v", got, wantDeep)
	}
	wantShallow := cty.TupleVal([]cty.Value{both, secret}).Mark(Ephemeral)
	if got := RemoveShallow(value, Sensitive); !got.RawEquals(wantShallow) {
		t.Errorf("RemoveShallow: got %#v, want %#v", got, wantShallow)
	}
	if got := Remove(plain, Sensitive); !got.RawEquals(plain) {
		t.Errorf("Remove from an unmarked value: got %#v, want %#v", got, plain)
	}
}

func TestPushDown(t *testing.T) {
	tests := []struct {
		name       string
		give, want cty.Value
	}{
		{"unmarked", cty.EmptyObjectVal, cty.EmptyObjectVal},
		{
			"object",
			cty.ObjectVal(map[string]cty.Value{"a": plain, "b": fleeting}).Mark(Sensitive),
			cty.ObjectVal(map[string]cty.Value{"a": plain.Mark(Sensitive), "b": fleeting.Mark(Sensitive)}),
		},
		{
			"map",
			cty.MapVal(map[string]cty.Value{"a": plain}).Mark(Ephemeral),
			cty.MapVal(map[string]cty.Value{"a": plain.Mark(Ephemeral)}),
		},
		{"list", cty.ListVal([]cty.Value{plain}).Mark(Ephemeral), cty.ListVal([]cty.Value{plain.Mark(Ephemeral)})},
		{"tuple", cty.TupleVal([]cty.Value{plain}).Mark(Ephemeral), cty.TupleVal([]cty.Value{plain.Mark(Ephemeral)})},
		{"set", cty.SetVal([]cty.Value{plain}).Mark(Sensitive), cty.SetVal([]cty.Value{plain}).Mark(Sensitive)},
		{"empty", cty.EmptyObjectVal.Mark(Sensitive), cty.EmptyObjectVal.Mark(Sensitive)},
		{"unknown", cty.DynamicVal.Mark(Sensitive), cty.DynamicVal.Mark(Sensitive)},
		{"null", cty.NullVal(cty.EmptyObject).Mark(Sensitive), cty.NullVal(cty.EmptyObject).Mark(Sensitive)},
		{"primitive", secret, secret},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := PushDown(test.give); !got.RawEquals(test.want) {
				t.Errorf("PushDown(%#v) = %#v, want %#v", test.give, got, test.want)
			}
		})
	}
}

func TestComparePaths(t *testing.T) {
	sorted := []cty.Path{
		{},
		cty.GetAttrPath("a"),
		cty.GetAttrPath("a").GetAttr("z"),
		cty.GetAttrPath("a").IndexInt(0),
		cty.GetAttrPath("a").IndexInt(2),
		cty.GetAttrPath("a").IndexInt(10),
		cty.GetAttrPath("a").IndexString("k"),
		cty.GetAttrPath("a").IndexString("l"),
		cty.GetAttrPath("a").Index(cty.EmptyObjectVal),
		cty.GetAttrPath("b"),
	}
	for i, a := range sorted {
		for j, b := range sorted {
			got, want := ComparePaths(a, b), 0
			if i < j {
				want = -1
			}
			if i > j {
				want = 1
			}
			if got != want {
				t.Errorf("ComparePaths(%#v, %#v) = %d, want %d", a, b, got, want)
			}
		}
	}
}
