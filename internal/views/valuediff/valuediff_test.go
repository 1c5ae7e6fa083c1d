// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package valuediff

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/views/viewtest"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	if text == "" {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// paths reads paths in JSON. The text may be empty.
func paths(t *testing.T, text string) []cty.Path {
	t.Helper()
	list, _ := decode(t, text).([]any)
	var result []cty.Path
	for _, steps := range list {
		result = append(result, viewtest.Path(steps))
	}
	return result
}

func TestNamed(t *testing.T) {
	// The first line of want stands without its two spaces.
	tests := map[string]struct {
		before, after string // JSON; empty for no value
		unknown       string
		secretBefore  string
		secretAfter   string
		replace       string
		want          string
	}{
		"created":           {after: `"x"`, want: `+ v = "x"`},
		"created null":      {after: `null`, want: `+ v = null`},
		"deleted":           {before: `1`, want: `- v = 1 -> null`},
		"changed":           {before: `1`, after: `2.50`, want: `~ v = 1 -> 2.50`},
		"same":              {before: `true`, after: `true`, want: `  v = true`},
		"large number":      {after: `1e30`, want: `+ v = 1000000000000000000000000000000`},
		"huge number":       {after: `1e300000`, want: `+ v = 1e300000`},
		"to unknown":        {before: `"x"`, after: `null`, unknown: `true`, want: `~ v = "x" -> (known after apply)`},
		"from null":         {before: `null`, after: `"x"`, want: `~ v = null -> "x"`},
		"forces":            {before: `1`, after: `2`, replace: `[[]]`, want: `~ v = 1 -> 2`},
		"sensitive":         {before: `1`, after: `2`, secretBefore: `true`, secretAfter: `true`, want: `~ v = (sensitive value)`},
		"sensitive deleted": {before: `1`, secretBefore: `true`, want: `- v = (sensitive value) -> null`},
		"sensitive unknown": {
			before:      `1`,
			after:       `null`,
			unknown:     `true`,
			secretAfter: `true`,
			want:        "  # (becomes sensitive, and is hidden from now on)\n  ~ v = (sensitive value)",
		},
		"no longer sensitive": {
			before: `"a"`, after: `"a"`, secretBefore: `true`,
			want: "  # (is no longer sensitive, and is shown after applying; the value does not change)\n  ~ v = (sensitive value)",
		},
		"sensitive inside": {before: `{"a":1,"b":2}`, after: `{"a":1,"b":3}`, secretBefore: `{"b":true}`, secretAfter: `{"b":true}`, want: `
~ v = {
      ~ b = (sensitive value)
        # (1 unchanged attribute hidden)
    }`},
		"empty to full": {before: `[]`, after: `[1]`, want: `
~ v = [
      + 1,
    ]`},
		"full to empty": {before: `{"a":1}`, after: `{}`, want: `
~ v = {
      - a = 1 -> null
    }`},
		"other kind": {before: `{"a":1}`, after: `["a"]`, want: `
~ v = {
      - a = 1
    } -> [
      + "a",
    ]`},
		"list grows in the middle": {before: `[1,2,3,4,5]`, after: `[1,2,"x",3,4,5]`, want: `
~ v = [
        # (1 unchanged element hidden)
        2,
      + "x",
        3,
        # (2 unchanged elements hidden)
    ]`},
		"list of objects": {before: `[{"k":"a","n":1},{"k":"b","n":1}]`, after: `[{"k":"a","n":2},{"k":"b","n":1}]`, want: `
~ v = [
      ~ {
          ~ n = 1 -> 2
            # (1 unchanged attribute hidden)
        },
        {
            k = "b"
            n = 1
        },
    ]`},
		"elements of another kind": {before: `[1]`, after: `["1"]`, want: `
~ v = [
      - 1,
      + "1",
    ]`},
		"more unknown elements than values": {after: `[1]`, unknown: `[false,true]`, want: `
+ v = [
      + 1,
      + (known after apply),
    ]`},
		"lines": {before: `"a\nb\n"`, after: `"a\nc\n"`, want: `
~ v = <<-EOT
        a
      - b
      + c
    EOT`},
		"only the last line end": {before: `"a\nb\n"`, after: `"a\nb"`, want: `~ v = "a\nb\n" -> "a\nb"`},
		"one line to several": {before: `"a"`, after: `"a\nb"`, want: `
~ v = <<-EOT
        a
      + b
    EOT`},
		"control characters": {
			before: `"a\nb"`,
			after:  `"a\n\u001b[2J"`,
			want:   "~ v = <<-EOT\n        a\n        b\n    EOT -> \"a\\n\\x1b[2J\"",
		},
		"format characters":   {after: `"a\nb\u202e"`, want: `+ v = "a\nb\u202e"`},
		"JSON with more text": {after: `"{\"a\":1} x"`, want: `+ v = "{\"a\":1} x"`},
		"empty JSON":          {after: `"{}"`, want: `+ v = "{}"`},
		"JSON to text": {before: `"[1]"`, after: `"x"`, want: `
~ v = jsonencode(
        [
          - 1,
        ]
    ) -> "x"`},
		"JSON list to object": {before: `"[1]"`, after: `"{\"a\":1}"`, want: `
~ v = jsonencode(
      ~ [
          - 1,
        ] -> {
          + a = 1
        }
    )`},
		"names that need quotes": {after: `{"a b":1,"c":"${x}"}`, want: `
+ v = {
      + "a b" = 1
      + c     = "${x}"
    }`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var change Change
			if test.before != "" {
				change.Before = FromJSON(decode(t, test.before), decode(t, test.secretBefore))
			}
			if test.after != "" {
				change.After = FromJSON(decode(t, test.after), decode(t, test.secretAfter))
			}
			if test.unknown != "" {
				change.After = FromResource(viewtest.Value(decode(t, test.after), decode(t, test.unknown), decode(t, test.secretAfter)))
			}
			change.Replace = paths(t, test.replace)
			got := Named("v", 1, change, Options{Indent: 2})
			if want := "  " + strings.TrimPrefix(test.want, "\n") + "\n"; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestAttributes(t *testing.T) {
	tests := map[string]struct {
		before, after, replace, want string
	}{
		"unset attributes": {`{"a":null,"b":null}`, `{"a":null,"b":1}`, ``, "  + b = 1\n"},
		"nulls in what someone wrote": {``, `{"m":{"n":null},"l":[{"n":null,"v":1}]}`, ``, `  + l = [
      + {
          + v = 1
        },
    ]
  + m = {
      + n = null
    }
`},
		"what identifies": {`{"id":"i","name":"n","tags":{"a":"b"},"x":1,"y":2}`, `{"id":"i","name":"n","tags":{"a":"b"},"x":1,"y":3}`, ``, `    id   = "i"
    name = "n"
  ~ y    = 2 -> 3
    # (2 unchanged attributes hidden)
`},
		"forces replacement": {`{"a":1,"l":[{"k":1},{"k":1}],"m":"x\ny","o":{"p":{"q":1}}}`, `{"a":2,"l":[{"k":1},{"k":2}],"m":"x\nz","o":{"p":2}}`, `[["a"],["l",1,"k"],["m"],["o","p","q"],[]]`, `  ~ a = 1 -> 2 # forces replacement
  ~ l = [
        {
            k = 1
        },
      ~ {
          ~ k = 1 -> 2 # forces replacement
        },
    ]
  ~ m = <<-EOT # forces replacement
        x
      - y
      + z
    EOT
  ~ o = {
      ~ p = {
          - q = 1 # forces replacement
        } -> 2
    }
`},
		"no object": {`"x"`, `["y"]`, ``, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for from, tree := range map[string]func(any) *Value{
				"JSON": func(value any) *Value { return FromJSON(value, nil) },
				"cty":  func(value any) *Value { return FromResource(viewtest.Value(value, nil, nil)) },
			} {
				change := Change{After: tree(decode(t, test.after)), Replace: paths(t, test.replace)}
				if test.before != "" {
					change.Before = tree(decode(t, test.before))
				}
				if got := Attributes(change, Options{Indent: 2}); got != test.want {
					t.Errorf("from %s: got\n%s\nwant\n%s", from, got, test.want)
				}
			}
		})
	}
}

// Terraform omits a sensitive attribute that is not set, and shows one that is set later as added.
func TestUnsetSensitiveAttributes(t *testing.T) {
	secret := map[string]any{"a": true, "b": []any{map[string]any{"c": true}}}
	set := FromJSON(map[string]any{"a": "x", "b": []any{map[string]any{"c": nil, "d": "y"}}}, secret)
	unset := FromJSON(map[string]any{"a": nil, "b": []any{map[string]any{"c": nil, "d": "y"}}}, secret)
	tests := map[string]struct {
		before, after *Value
		want          string
	}{
		"created unset": {nil, unset, "  + b = [\n      + {\n          + d = \"y\"\n        },\n    ]\n"},
		"set later":     {unset, set, "  + a = (sensitive value)\n    # (1 unchanged attribute hidden)\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := Attributes(Change{Before: test.before, After: test.after}, Options{Indent: 2})
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestFromCty(t *testing.T) {
	capsule := cty.Capsule("provider reference", reflect.TypeFor[int]())
	tests := map[string]struct {
		value cty.Value
		want  string
	}{
		"map":       {cty.MapVal(map[string]cty.Value{"a": cty.True}), "  + v = {\n      + \"a\" = true\n    }\n"},
		"set":       {cty.SetVal([]cty.Value{cty.StringVal("b"), cty.StringVal("a")}), "  + v = [\n      + \"a\",\n      + \"b\",\n    ]\n"},
		"unknown":   {cty.DynamicVal, "  + v = (known after apply)\n"},
		"ephemeral": {cty.StringVal("x").Mark(marks.Ephemeral), "  + v = (ephemeral value)\n"},
		"both":      {cty.StringVal("x").Mark(marks.Ephemeral).Mark(marks.Sensitive), "  + v = (sensitive value)\n"},
		"other":     {cty.StringVal("x").Mark("other"), "  + v = (sensitive value)\n"},
		"number":    {cty.MustParseNumberVal("123456789012345678901234567890"), "  + v = 123456789012345678901234567890\n"},
		"capsule":   {cty.CapsuleVal(capsule, new(int)), "  + v = provider reference\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Named("v", 1, Change{After: FromCty(test.value)}, Options{Indent: 2}); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	if FromCty(cty.NilVal) != nil {
		t.Error("FromCty(cty.NilVal) is not nil")
	}
}

// In a value that is hidden as a whole, marks inside make no difference.
func TestHiddenValuesAreEqual(t *testing.T) {
	inner := cty.StringVal("x")
	hidden := func(v cty.Value) *Value {
		return FromCty(cty.ObjectVal(map[string]cty.Value{"a": v}).Mark(marks.Sensitive))
	}
	if !Equal(hidden(inner), hidden(inner.Mark(marks.Sensitive))) {
		t.Error("two hidden values differ by the marks inside of them")
	}
}

func TestEqual(t *testing.T) {
	texts := []string{
		`null`, `""`, `"1"`, `1`, `[]`, `[""]`, `["",""]`, `{}`, `{"":""}`, `{"a":"b"}`, `{"a":{"b":""}}`, `[["1"],[]]`,
		`[[],["1"]]`,
	}
	for i, a := range texts {
		for j, b := range texts {
			if got, want := Equal(FromJSON(decode(t, a), nil), FromJSON(decode(t, b), nil)), i == j; got != want {
				t.Errorf("Equal(%s, %s) = %v, want %v", a, b, got, want)
			}
		}
	}
}

func TestAlign(t *testing.T) {
	letters := func(s string) []string { return strings.Split(s, "")[:len(s)] }
	for _, texts := range [][2]string{
		{"", ""}, {"abc", ""}, {"", "abc"}, {"abc", "abc"}, {"abcd", "bxd"}, {"aaa", "aa"}, {"abcabba", "cbabac"},
	} {
		for _, inPlace := range []bool{false, true} {
			before, after := letters(texts[0]), letters(texts[1])
			var gotBefore, gotAfter []string
			common := 0
			for _, p := range align(before, after, inPlace) {
				if p.before >= 0 {
					gotBefore = append(gotBefore, before[p.before])
				}
				if p.after >= 0 {
					gotAfter = append(gotAfter, after[p.after])
				}
				if p.before >= 0 && p.after >= 0 {
					if before[p.before] == after[p.after] {
						common++
					} else if !inPlace {
						t.Errorf("align(%q, %q) pairs what differs", texts[0], texts[1])
					}
				}
			}
			if strings.Join(gotBefore, "") != texts[0] || strings.Join(gotAfter, "") != texts[1] {
				t.Errorf("align(%q, %q, %v) gives %q and %q", texts[0], texts[1], inPlace, gotBefore, gotAfter)
			}
			if want := longest(texts[0], texts[1]); common != want {
				t.Errorf("align(%q, %q, %v) keeps %d in common, want %d", texts[0], texts[1], inPlace, common, want)
			}
		}
	}
}

// longest is the length of a longest common subsequence, found by trying.
func longest(a, b string) int {
	if a == "" || b == "" {
		return 0
	}
	if a[0] == b[0] {
		return 1 + longest(a[1:], b[1:])
	}
	return max(longest(a[1:], b), longest(a, b[1:]))
}

func TestAlignOfLargeLists(t *testing.T) {
	var before, after []string
	for i := range 5000 {
		before = append(before, fmt.Sprint("b", i))
		after = append(after, fmt.Sprint("a", i))
	}
	before, after = append(before, "end"), append(after, "end")
	pairs := align(before, after, false)
	if len(pairs) != 10001 || pairs[10000] != (pair{5000, 5000}) {
		t.Errorf("%d pairs, want 10001 that end with the common one", len(pairs))
	}
}

// FuzzChange renders changes between any two JSON documents. Whatever they are, sensitive values
// are not shown, and no control character gets through.
func FuzzChange(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"a":1,"b":[1,2,{"c":null}],"t":"x\ny"}`, `{"a":"2","b":[2,{"c":3}],"t":"x\nz"}`},
		{`{"j":"{\"a\":[1]}","u":"\u001b[2J"}`, `{"j":"[1,{}]","u":["\u202e"]}`},
		{`[[[]],{}]`, `{"":{"":""}}`},
	} {
		f.Add(seed[0], seed[1], true)
	}
	f.Fuzz(func(t *testing.T, before, after string, unknown bool) {
		var b, a any
		if json.Unmarshal([]byte(before), &b) != nil || json.Unmarshal([]byte(after), &a) != nil {
			return
		}
		const secret = "S3CR3T"
		if strings.Contains(before+after, secret) || strings.Contains(before+after, `\u00`) && strings.Contains(before+after, "S3") {
			return
		}
		flags := map[string]any{"hidden": true}
		change := Change{
			Before:  FromJSON(map[string]any{"x": b, "hidden": secret}, flags),
			After:   FromResource(viewtest.Value(map[string]any{"x": a, "hidden": []any{secret, a}}, map[string]any{"new": unknown, "x": b}, flags)),
			Replace: []cty.Path{cty.IndexPath(viewtest.Value(b, nil, nil)), cty.GetAttrPath("x").Index(viewtest.Value(a, nil, nil))},
		}
		for _, options := range []Options{{Indent: 4}, {Plain: true, Full: true}} {
			for _, text := range []string{Attributes(change, options), Named("n", 3, change, options)} {
				if strings.Contains(text, secret) {
					t.Fatalf("the secret is shown:\n%s", text)
				}
				if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0x202e }); i >= 0 {
					t.Fatalf("a control character at %d of:\n%q", i, text)
				}
				if text != "" && !strings.HasSuffix(text, "\n") {
					t.Fatalf("the last line does not end: %q", text)
				}
			}
		}
		if again := Attributes(change, Options{}); again != Attributes(change, Options{}) {
			t.Fatal("two renderings differ")
		}
		pairs := align(keys(change.After.Elements), keys(change.After.Elements), true)
		if slices.ContainsFunc(pairs, func(p pair) bool { return p.before != p.after }) {
			t.Fatal("a list differs from itself")
		}
	})
}
