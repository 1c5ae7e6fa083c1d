// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// The outcomes are those of OpenTofu 1.12, but for texts that are not UTF-8.
func TestFunctionsOfTofu(t *testing.T) {
	scope := &hcl.EvalContext{
		Functions: Functions(Options{Tofu: true}),
		Variables: map[string]cty.Value{
			"unknown": cty.UnknownVal(cty.String), "template": cty.StringVal("${urldecode(\"a%20b\")}"),
		},
	}
	for source, want := range map[string]cty.Value{
		`base64gunzip(base64gzip("hello"))`:                  cty.StringVal("hello"),
		`core::base64gunzip(base64gzip(""))`:                 cty.StringVal(""),
		`base64gunzip(sensitive(base64gzip("hello")))`:       cty.StringVal("hello").Mark(marks.Sensitive),
		`base64gunzip(unknown)`:                              cty.UnknownVal(cty.String).RefineNotNull(),
		`cidrcontains("10.0.0.0/8", "10.1.2.3")`:             cty.True,
		`cidrcontains("10.0.0.0/8", "11.1.2.3")`:             cty.False,
		`cidrcontains("10.0.0.0/8", "10.0.0.0/8")`:           cty.True,
		`cidrcontains("10.0.0.0/8", "10.0.0.0/7")`:           cty.False,
		`cidrcontains("10.0.0.0/8", "10.0.0.0/16")`:          cty.True,
		`cidrcontains("010.5.0.0/8", "10.001.2.3/16")`:       cty.True,
		`cidrcontains("0.0.0.0/0", "10.1.2.3/0")`:            cty.True,
		`cidrcontains("fd00::/8", "fd00::1")`:                cty.True,
		`cidrcontains("fd00::/8", "fc00::/7")`:               cty.False,
		`cidrcontains("::ffff:10.0.0.0/104", "10.0.0.0/16")`: cty.True,
		`cidrcontains("10.0.0.0/8", "::ffff:10.0.0.0/104")`:  cty.True,
		`cidrcontains(sensitive("10.0.0.0/8"), "10.1.2.3")`:  cty.True.Mark(marks.Sensitive),
		`urldecode("a%20b+c%E2%82%AC")`:                      cty.StringVal("a b c€"),
		`urldecode(12)`:                                      cty.StringVal("12"),
		`urldecode(sensitive("a"))`:                          cty.StringVal("a").Mark(marks.Sensitive),
		`templatestring(template, {})`:                       cty.StringVal("a b"),
		`can(base64gunzip("aGVsbG8="))`:                      cty.False,
		`can(base64gunzip("H4sIAAAAAAAA/8pIzcnJBwAAAP//"))`:  cty.False,
		`can(base64gunzip(base64encode("")))`:                cty.False,
		`can(cidrcontains("10.0.0.0/8", "fd00::1"))`:         cty.False,
		`can(cidrcontains("10.0.0.0", "10.0.0.0"))`:          cty.False,
		`can(cidrcontains("10.0.0.0/8", ""))`:                cty.False,
		`can(urldecode("%ff"))`:                              cty.False,
		`can(urldecode(null))`:                               cty.False,
	} {
		if got := evaluateValue(t, scope, source); !got.RawEquals(want) {
			t.Errorf("%s = %#v, want %#v", source, got, want)
		}
	}
	_, diags := parseExpression(t, `urldecode(sensitive("%zz"))`).Value(scope)
	if !diags.HasErrors() || strings.Contains(diags[0].Detail, "zz") {
		t.Errorf("a sensitive argument is in the error, or there is none: %v", diags)
	}
	for name := range Functions(Options{}) {
		if OnlyInTofu(name) {
			t.Errorf("terraform has the function %s", name)
		}
	}
}

// A small argument has no huge result.
func TestBase64GunzipIsBounded(t *testing.T) {
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	for range bounds.MaxText>>20 + 1 {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	argument := cty.StringVal(base64.StdEncoding.EncodeToString(compressed.Bytes()))
	if _, err := base64GunzipFunction.Call([]cty.Value{argument}); !errors.Is(err, errTooMuchText) {
		t.Errorf("got %v, want %v", err, errTooMuchText)
	}
}
