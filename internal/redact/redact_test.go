// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package redact

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

func TestText(t *testing.T) {
	str, num := cty.StringVal, cty.NumberIntVal
	key := "-----BEGIN KEY-----\nAAAAbbbbCCCC\n}\n-----END KEY-----\n"
	tests := map[string]struct {
		value      cty.Value
		text, want string
		keep       []string
	}{
		"rule R1, anywhere": {
			str("hunter2"), `no user xhunter2x, "hunter2"`, `no user x(sensitive value)x, "(sensitive value)"`,
			nil,
		},
		"side by side": {str("hunter2"), "hunter2hunter2", "(sensitive value)", nil},
		"overlapping":  {cty.ListVal([]cty.Value{str("abcdef"), str("defghi")}), "xabcdefghix", "x(sensitive value)x", nil},
		"the longest": {
			cty.ListVal([]cty.Value{str("hunter2"), str("hunter2-long")}), "hunter2-long",
			"(sensitive value)", nil,
		},
		"rule R1, one of several lines": {str(key), "  AAAAbbbbCCCC\n}", "  (sensitive value)\n}", nil},
		"rule R1, all lines":            {str(key), "key: " + key + "end", "key: (sensitive value)end", nil},
		"line end at the end":           {str("pass\n"), "pass is not allowed", "(sensitive value) is not allowed", nil},
		"rule R2":                       {str("abcd"), `abcd, "abcd" abcde é`, `(sensitive value), "(sensitive value)" abcde é`, nil},
		"rule R2, with symbols":         {str("-b-c"), "a-b-cd x-b-c", "a-b-cd x(sensitive value)", nil},
		"rule R2, numbers":              {num(4711), "4711 is not 14711, 4711.", "(sensitive value) is not 14711, (sensitive value).", nil},
		"rule R2, negative number":      {num(-4711), "-4711", "-(sensitive value)", nil},
		"fractions":                     {cty.NumberFloatVal(12.375), "is 12.375", "is (sensitive value)", nil},
		"rule R3":                       {str("a"), `"a" and 'a' are a`, `"(sensitive value)" and '(sensitive value)' are a`, nil},
		"rule R3, numbers":              {num(42), "42 is true", "42 is true", nil},
		"rule R3, booleans":             {cty.True, "42 is true", "42 is true", nil},
		"words of the language":         {str("null"), "is null", "is null", nil},
		"empty":                         {str(""), `is ""`, `is ""`, nil},
		"nested": {cty.ObjectVal(map[string]cty.Value{
			"a": cty.SetVal([]cty.Value{str("inner-1")}),
			"b": cty.NullVal(cty.String), "c": cty.UnknownVal(cty.String),
		}), "inner-1 a b", "(sensitive value) a b", nil},
		"keys of maps": {
			cty.MapVal(map[string]cty.Value{"tok-4711": num(1), "name": num(2)}), "tok-4711 name",
			"(sensitive value) name", nil,
		},
		"names of attributes": {cty.ObjectVal(map[string]cty.Value{"tok-4711": num(1)}), "tok-4711", "tok-4711", nil},
		"addresses are kept": {
			str("store-1"), `x.a["store-1"]: store-1`, `x.a["store-1"]: (sensitive value)`,
			[]string{`x.a["store-1"]`, ""},
		},
		"what goes on after is not kept": {str("store-1 went"), "store-1 went", "(sensitive value)", []string{"store-1"}},
		"nothing to hide":                {cty.NullVal(cty.String), "text", "text", nil},
		"short text":                     {str("hunter2"), "ab", "ab", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var s Set
			s.Add(test.value.Mark("sensitive"))
			if got := s.Text(test.text, test.keep...); got != test.want {
				t.Errorf("Text(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestTextInAnyForm(t *testing.T) {
	for _, secret := range []string{`x4Kq&"81<Zt>/+ü`, "line one\n\tline \"two\"\r\n", "$${a}%{b}\\'`", `it's 5%`} {
		var s Set
		s.Add(cty.StringVal(secret))
		for name, written := range map[string]string{
			"plain": secret, "JSON": mustJSON(secret, true), "plain JSON": mustJSON(secret, false), "Go": strconv.Quote(secret),
			"ASCII": fmt.Sprintf("%q", secret),
			"HCL":   string(hclwrite.TokensForValue(cty.StringVal(secret)).Bytes()),
			"query": url.QueryEscape(secret), "path": url.PathEscape(secret),
			"Base64": base64.StdEncoding.EncodeToString([]byte(secret)), "shell": "'" + strings.ReplaceAll(secret, "'", `'\''`) + "'",
			"URL": "https://user:" + url.QueryEscape(secret) + "@host/",
		} {
			got := s.Text("before " + written + " after")
			rest := strings.NewReplacer(Hidden, "", "before ", "", " after", "", `"`, "", "'", "", "=", "", "https://user:", "", "@host/",
				"").Replace(got)
			if !strings.Contains(got, Hidden) || strings.TrimSpace(rest) != "" {
				t.Errorf("%s of %q: %q", name, secret, got)
			}
		}
	}
}

func TestAddMarked(t *testing.T) {
	var s Set
	s.AddMarked(cty.NilVal)
	s.AddMarked(cty.ObjectVal(map[string]cty.Value{
		"open": cty.StringVal("open-part"), "closed": cty.StringVal("closed-part").Mark(1),
		"all": cty.TupleVal([]cty.Value{cty.StringVal("inside-part")}).Mark(1),
	}))
	if got, want := s.Text("open-part closed-part inside-part"), "open-part (sensitive value) (sensitive value)"; got != want {
		t.Errorf("Text = %q, want %q", got, want)
	}
}

// For any value and text, a hidden value is there no more, and all else stays.
func FuzzText(f *testing.F) {
	f.Add("hunter2", "user ", " not found")
	f.Add("a", "is \"", "\"")
	f.Add("abc", "x", "y")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		var s Set
		s.AddString(secret)
		text := before + secret + after
		got := s.Text(text)
		if len(secret) >= anywhere && !strings.Contains(Hidden, secret) && strings.Contains(strings.ReplaceAll(got, Hidden, "\x00"), secret) {
			t.Errorf("Text(%q) = %q has %q", text, got, secret)
		}
		if !strings.Contains(got, Hidden) && got != text {
			t.Errorf("Text(%q) = %q changes what it does not hide", text, got)
		}
	})
}
