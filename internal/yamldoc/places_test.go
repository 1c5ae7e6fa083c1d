// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package yamldoc

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func parse(t *testing.T, src string) *yaml.Node {
	t.Helper()
	root, diags := Parse("f.yaml", []byte(src))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return root
}

func TestPairsMerged(t *testing.T) {
	top, diags := Pairs("f.yaml",
		parse(t, "base: &base {a: 1, b: 2}\nother: &other {b: 3, c: 4}\nall:\n  <<: [*base, *other]\n  a: own\none: {<<: *base}\n"))
	if diags.HasErrors() || len(top) != 4 {
		t.Fatal(top, diags)
	}
	for i, want := range map[int]string{2: "a=own b=2 c=4", 3: "a=1 b=2"} {
		pairs, diags := Pairs("f.yaml", top[i].Value)
		var got []string
		for _, pair := range pairs {
			got = append(got, pair.Name+"="+pair.Value.Value)
		}
		if strings.Join(got, " ") != want || diags.HasErrors() {
			t.Errorf("got %v, %v, want %s", got, diags, want)
		}
	}
}

func TestWithin(t *testing.T) {
	for src, want := range map[string]string{
		"a: äb cd\n":       "1:4-1:9 1:7-1:9",
		"a: 'äb cd'\n":     "1:4-1:11 1:8-1:10",
		"a: |\n  äb cd\n":  "1:4-1:4 1:4-1:4",
		"a: äb cd  # no\n": "1:4-1:9 1:7-1:9",
	} {
		value := parse(t, src).Content[1]
		whole, part := Range("f.yaml", value), Within("f.yaml", value, strings.Index(value.Value, "cd"), 2)
		got := fmt.Sprintf("%d:%d-%d:%d %d:%d-%d:%d", whole.Start.Line, whole.Start.Column, whole.End.Line, whole.End.Column,
			part.Start.Line, part.Start.Column, part.End.Line, part.End.Column)
		if got != want {
			t.Errorf("%q: got %s, want %s", src, got, want)
		}
	}
}
