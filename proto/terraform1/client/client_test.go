// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/anypb"

	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

func TestValues(t *testing.T) {
	for name, want := range map[string]Value{
		"number":  {Value: cty.NumberIntVal(2)},
		"null":    {Value: cty.NullVal(cty.List(cty.String))},
		"unknown": {Value: cty.UnknownVal(cty.Map(cty.Number))},
		"secret":  {Value: cty.StringVal("s"), Sensitive: []cty.Path{{}}},
		"parts": {
			Value: cty.ObjectVal(map[string]cty.Value{
				"list": cty.ListVal([]cty.Value{cty.True, cty.False}), "map": cty.MapVal(map[string]cty.Value{"k": cty.StringVal("v")}),
			}),
			Sensitive: []cty.Path{cty.GetAttrPath("list").Index(cty.NumberIntVal(1)), cty.GetAttrPath("map").IndexString("k")},
		},
	} {
		message, err := EncodeValue(want)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := DecodeValue(message)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		same := got.Value.RawEquals(want.Value) && len(got.Sensitive) == len(want.Sensitive)
		for i := range want.Sensitive {
			same = same && got.Sensitive[i].Equals(want.Sensitive[i])
		}
		if !same {
			t.Errorf("%s: got %#v, want %#v", name, got, want)
		}
	}
}

func TestEncodedNumber(t *testing.T) {
	message, err := EncodeValue(Value{Value: cty.NumberIntVal(2)})
	if want := "\x92\xc4\x08\"number\"\x02"; err != nil || string(message.GetMsgpack()) != want {
		t.Errorf("got %x, error %v, want %x", message.GetMsgpack(), err, want)
	}
}

// A mark that cannot be set on a part of a value is set on the value around it.
func TestPathsStopAtSetElements(t *testing.T) {
	path := cty.GetAttrPath("set").Index(cty.ObjectVal(map[string]cty.Value{"a": cty.True})).GetAttr("a")
	if got, want := encodePath(path), encodePath(cty.GetAttrPath("set")); !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, bytes := range []string{"", "\xff", "\x92\xc4"} {
		if v, err := DecodeValue(&stackspb.DynamicValue{Msgpack: []byte(bytes)}); err == nil {
			t.Errorf("%x: got %#v, want an error", bytes, v)
		}
	}
	if _, err := EncodeValue(Value{Value: cty.True.Mark("m")}); err == nil {
		t.Error("a mark was encoded")
	}
}

func anyOf(text string) *anypb.Any { return &anypb.Any{TypeUrl: "example.com/x", Value: []byte(text)} }

func TestMerge(t *testing.T) {
	described := func(key string) *Description {
		return &Description{Key: key, Description: &stackspb.AppliedChange_ChangeDescription_ResourceInstance{
			ResourceInstance: &stackspb.AppliedChange_ResourceInstance{ResourceType: key},
		}}
	}
	later := &Description{Key: "later"}
	later.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 20000, protowire.VarintType), 1))
	var s State
	s.Merge(&stackspb.AppliedChange{
		Raw:          []*stackspb.AppliedChange_RawChange{{Key: "a", Value: anyOf("1")}, {Key: "b", Value: anyOf("2")}},
		Descriptions: []*Description{described("a"), described("b"), described("c"), described("d"), later},
	})
	s.Merge(&stackspb.AppliedChange{
		Raw: []*stackspb.AppliedChange_RawChange{{Key: "a"}, {Key: "b", Value: anyOf("3")}, {Key: "gone"}},
		Descriptions: []*Description{
			{Key: "a", Description: &stackspb.AppliedChange_ChangeDescription_Deleted{}},
			{Key: "b", Description: &stackspb.AppliedChange_ChangeDescription_Moved{}},
			{Key: "c"},
		},
	})
	want := State{Raw: map[string]*anypb.Any{"b": anyOf("3")}, Descriptions: map[string]*Description{"d": described("d"), "later": later}}
	if diff := cmp.Diff(want, s, protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	path := filepath.Join(t.TempDir(), "s.tfstackstate")
	if err := s.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	read, err := ReadState(path)
	if diff := cmp.Diff(&want, read, protocmp.Transform()); err != nil || diff != "" {
		t.Errorf("read again, error %v (-want +got):\n%s", err, diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
}

func verdict(applyable bool) *stackspb.PlannedChange {
	return &stackspb.PlannedChange{Raw: []*anypb.Any{anyOf("verdict")}, Descriptions: []*stackspb.PlannedChange_ChangeDescription{
		{Description: &stackspb.PlannedChange_ChangeDescription_PlanApplyable{PlanApplyable: applyable}},
	}}
}

func TestPlanFiles(t *testing.T) {
	plan := &Plan{Mode: ModeDestroy, Changes: []*stackspb.PlannedChange{{Raw: []*anypb.Any{anyOf("2"), anyOf("1")}}, {}, verdict(true)}}
	path := filepath.Join(t.TempDir(), "plan")
	if err := plan.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadPlan(path)
	if diff := cmp.Diff(plan, got, protocmp.Transform()); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if want := []*anypb.Any{anyOf("2"), anyOf("1"), anyOf("verdict")}; cmp.Diff(want, got.Raw(), protocmp.Transform()) != "" {
		t.Errorf("raw elements %v, want %v", got.Raw(), want)
	}
}

func TestApplyable(t *testing.T) {
	for name, test := range map[string]struct {
		plan Plan
		want bool
	}{
		"yes":        {Plan{Changes: []*stackspb.PlannedChange{verdict(true)}}, true},
		"no":         {Plan{Changes: []*stackspb.PlannedChange{verdict(false)}}, false},
		"last":       {Plan{Changes: []*stackspb.PlannedChange{verdict(true), verdict(false)}}, false},
		"no verdict": {Plan{Changes: []*stackspb.PlannedChange{{}}}, false},
		"error":      {Plan{Changes: []*stackspb.PlannedChange{verdict(true)}, Diagnostics: Diagnostics{{Severity: SeverityError}}}, false},
		"warning":    {Plan{Changes: []*stackspb.PlannedChange{verdict(true)}, Diagnostics: Diagnostics{{Severity: SeverityWarning}}}, true},
	} {
		if got := test.plan.Applyable(); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadState(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for name, content := range map[string]string{"empty": "", "version 2": "\x08\x02", "other": "{}"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadState(path); err == nil {
			t.Errorf("%s was read as a state", name)
		}
		if _, err := ReadPlan(path); err == nil {
			t.Errorf("%s was read as a plan", name)
		}
	}
}

func TestDiagnostics(t *testing.T) {
	diags := newDiagnostics([]*terraform1.Diagnostic{
		{Severity: terraform1.Diagnostic_WARNING, Summary: "Odd name"},
		{Severity: terraform1.Diagnostic_ERROR, Summary: "No such thing", Detail: "Declare it.", Subject: &terraform1.SourceRange{
			SourceAddr: "./main.tf", Start: &terraform1.SourcePos{Byte: 4, Line: 2, Column: 3}, End: &terraform1.SourcePos{
				Byte: 5,
				Line: 2, Column: 4,
			},
		}},
	})
	want := Diagnostics{
		{Severity: SeverityWarning, Summary: "Odd name"},
		{
			Severity: SeverityError, Summary: "No such thing", Detail: "Declare it.",
			Subject: &Range{Source: "./main.tf", Start: Pos{4, 2, 3}, End: Pos{5, 2, 4}},
		},
	}
	if diff := cmp.Diff(want, diags); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := diags.err().Error(), "./main.tf:2,3: error: No such thing: Declare it."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := diags[:1].err(); err != nil {
		t.Errorf("a warning is the error %v", err)
	}
}
