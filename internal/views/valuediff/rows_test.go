// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package valuediff_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/views/valuediff"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func TestRows(t *testing.T) {
	secret := cty.StringVal("hunter2").Mark(marks.Sensitive)
	before := cty.ObjectVal(map[string]cty.Value{
		"id": cty.StringVal("1"), "size": cty.NumberIntVal(1), "gone": cty.True, "unset": cty.NullVal(cty.String), "secret": secret,
		"tags": cty.MapVal(map[string]cty.Value{"a": cty.StringVal("x"), "b c": cty.StringVal("y")}),
		"list": cty.ListVal([]cty.Value{cty.StringVal("p"), cty.StringVal("q")}), "big": cty.StringVal("small"),
	})
	after := cty.ObjectVal(map[string]cty.Value{
		"id": cty.StringVal("1"), "size": cty.NumberIntVal(2), "gone": cty.NullVal(cty.Bool), "unset": cty.UnknownVal(cty.String),
		"secret": cty.StringVal("hunter3"), "tags": cty.MapVal(map[string]cty.Value{"a": cty.StringVal("x"), "b c": cty.StringVal("z")}),
		"list": cty.ListVal([]cty.Value{cty.StringVal("p"), cty.StringVal("r"), cty.StringVal("s")}),
		"big":  cty.StringVal(strings.Repeat("<script>", 1<<17)),
	})
	rows, unchanged := valuediff.Rows(valuediff.Change{
		Before: valuediff.FromResource(before), After: valuediff.FromResource(after), Replace: []cty.Path{cty.GetAttrPath("size")},
	}, 20)
	want := []valuediff.Row{
		{Path: "big", Action: valuediff.Update, Before: `"small"`, After: `"<script><script><sc…`, Cut: true},
		{Path: "gone", Action: valuediff.Delete, Before: "true"},
		{Path: "list[1]", Action: valuediff.Update, Before: `"q"`, After: `"r"`},
		{Path: "list[2]", Action: valuediff.Create, After: `"s"`},
		{Path: "secret", Action: valuediff.Update, Before: "(sensitive value)", After: "(sensitive value)"},
		{Path: "size", Action: valuediff.Update, Before: "1", After: "2", Replace: true},
		{Path: `tags["b c"]`, Action: valuediff.Update, Before: `"y"`, After: `"z"`},
		{Path: "unset", Action: valuediff.Create, After: "(known after apply)"[:19]},
	}
	if diff := cmp.Diff(want, rows); diff != "" || unchanged != 3 {
		t.Errorf("%d parts are unchanged, want 3; rows (-want +got):\n%s", unchanged, diff)
	}
}

func TestLine(t *testing.T) {
	tree := map[string]any{"a": []any{"x\u202e\n", 1.5, nil, true}, "b": "hunter2", "c d": map[string]any{}}
	for letters, want := range map[int]string{
		1000: `{a = ["x\u202e\n", 1.5, null, true], b = (sensitive value), "c d" = {}}`,
		12:   `{a = ["x\u20…`,
		0:    "…",
	} {
		if got := valuediff.Line(valuediff.FromJSON(tree, map[string]any{"b": true}), letters); got != want {
			t.Errorf("Line with %d letters is %s, want %s", letters, got, want)
		}
	}
	if got := valuediff.Line(nil, 10); got != "-" {
		t.Errorf("Line of nothing is %q", got)
	}
}
