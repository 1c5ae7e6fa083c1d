// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wire_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Values go with their types, and come back with the marks of their sensitive parts.
func TestValue(t *testing.T) {
	secret := cty.StringVal("s").Mark(marks.Sensitive)
	for name, v := range map[string]cty.Value{
		"number":    cty.NumberIntVal(2),
		"unknown":   cty.UnknownVal(cty.List(cty.String)),
		"refined":   cty.UnknownVal(cty.String).RefineNotNull(),
		"null":      cty.NullVal(cty.Bool),
		"sensitive": secret,
		"inside": cty.ObjectVal(map[string]cty.Value{
			"list": cty.ListVal([]cty.Value{cty.StringVal("a"), secret}),
			"map":  cty.MapVal(map[string]cty.Value{"k": secret, "other": cty.StringVal("b")}),
			"set":  cty.SetVal([]cty.Value{cty.StringVal("a")}).Mark(marks.Sensitive),
		}),
	} {
		message, err := wire.Value(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := wire.ParseValue(message)
		if err != nil || !got.RawEquals(v) {
			t.Errorf("%s: got %#v, %v; want %#v", name, got, err, v)
		}
	}
	message, err := wire.Value(cty.NumberIntVal(2))
	if err != nil {
		t.Fatal(err)
	}
	if want := []byte("\x92\xc4\x08\"number\"\x02"); !bytes.Equal(message.GetMsgpack(), want) {
		t.Errorf("the number 2 is % x, want % x", message.GetMsgpack(), want)
	}
}

func TestEphemeralIsNotSent(t *testing.T) {
	if got, err := wire.Value(cty.StringVal("s").Mark(marks.Ephemeral)); err == nil {
		t.Errorf("got %v, want an error", got)
	}
}

// A client may send anything.
func TestParseValueOfStrangers(t *testing.T) {
	noStep := []*stackspb.AttributePath{{Steps: []*stackspb.AttributePath_Step{{}}}}
	for name, message := range map[string]*stackspb.DynamicValue{
		"nothing":    nil,
		"empty":      {},
		"no type":    {Msgpack: []byte{0x02}},
		"half":       {Msgpack: []byte("\x92\xc4\x08\"number\"")},
		"step":       {Msgpack: []byte("\x92\xc4\x08\"number\"\x02"), Sensitive: noStep},
		"wrong type": {Msgpack: []byte("\x92\xc4\x03\"x\"\x02")},
	} {
		if got, err := wire.ParseValue(message); err == nil {
			t.Errorf("%s: got %#v, want an error", name, got)
		}
	}
}

// An element of a set has no path: the whole set is sensitive.
func TestPathEndsEarly(t *testing.T) {
	path := cty.GetAttrPath("a").Index(cty.ObjectVal(map[string]cty.Value{"x": cty.True})).GetAttr("x")
	want := []*stackspb.AttributePath{
		{Steps: []*stackspb.AttributePath_Step{{Selector: &stackspb.AttributePath_Step_AttributeName{AttributeName: "a"}}}},
	}
	if diff := cmp.Diff(want, wire.Paths([]cty.Path{path}), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestDiagnostics(t *testing.T) {
	subject := hcl.Range{Filename: "a.hcl", Start: hcl.Pos{Line: 2, Column: 3, Byte: 10}, End: hcl.Pos{Line: 2, Column: 5, Byte: 12}}
	got := wire.Diagnostics(hcl.Diagnostics{
		{Severity: hcl.DiagError, Summary: "S", Detail: "D", Subject: &subject, Context: &subject},
		{Severity: hcl.DiagWarning, Summary: "W"},
	}, func(file string) string { return "git::https://example.com/r.git//" + file })
	rng := &terraform1pb.SourceRange{
		SourceAddr: "git::https://example.com/r.git//a.hcl",
		Start:      &terraform1pb.SourcePos{Byte: 10, Line: 2, Column: 3}, End: &terraform1pb.SourcePos{Byte: 12, Line: 2, Column: 5},
	}
	want := []*terraform1pb.Diagnostic{
		{Severity: terraform1pb.Diagnostic_ERROR, Summary: "S", Detail: "D", Subject: rng, Context: rng},
		{Severity: terraform1pb.Diagnostic_WARNING, Summary: "W"},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	if got := wire.Range(rng); *got != (hcl.Range{Filename: rng.SourceAddr, Start: subject.Start, End: subject.End}) {
		t.Errorf("got %v", got)
	}
	if got := wire.Range(&terraform1pb.SourceRange{SourceAddr: "x"}); got != nil {
		t.Errorf("a range without ends: got %v", got)
	}
}
