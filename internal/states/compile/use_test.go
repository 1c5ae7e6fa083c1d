// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"strings"
	"testing"
)

func TestOrderCUse(t *testing.T) {
	t.Run("C-use/a mapping", func(t *testing.T) {
		const others = "\ny: {n.g: [{mode: 2}]}\nz: {o.h: [{mode: 3}, {user: u}]}\n"
		for mapping, list := range map[string]string{
			"x: {m.f: [{use: {n: y, o: z}}]}" + others:                  "x: {m.f: [{use: [{n: y}, {o: z}]}]}" + others,
			"x: {m.f: []}\ny: {n.g: [{mode: 2}, {use_in: {m: x}}]}":     "x: {m.f: []}\ny: {n.g: [{mode: 2}, {use_in: [{m: x}]}]}",
			"x: {m.f: []}\ny: {n.g: [{mode: 2}, {require_in: {m: x}}]}": "x: {m.f: []}\ny: {n.g: [{mode: 2}, {require_in: [{m: x}]}]}",
		} {
			var b strings.Builder
			if err := WriteJSON(&b, mustCompile(t, list).Value()); err != nil {
				t.Fatal(err)
			}
			compareJSON(t, mustCompile(t, mapping).Value(), b.String())
			if !strings.Contains(b.String(), `"mode": 2`) {
				t.Errorf("%s: nothing is taken over:\n%s", list, b.String())
			}
		}
	})
	t.Run("C-use/arguments only", func(t *testing.T) {
		low := mustCompile(t,
			"x: {m.f: [{mode: 1}, {use: [y]}]}\ny: {m.g: [{name: n}, {order: 3}, {mode: 2}, {user: u}, {require: [z]}, {use: [w]}]}\n"+
				"z: {m.f: []}\nw: {m.f: [{group: g}]}")
		var got *Call
		for _, call := range low.Calls {
			if call.ID == "x" {
				got = call
			}
		}
		compareJSON(t, got.Value(), `{"name": "x", "mode": 1, "use": ["y"], "user": "u", "group": "g",
			"state": "m", "__id__": "x", "fun": "f", "__env__": "base", "__sls__": "blah", "order": 10000}`)
	})
}

func TestOrderCBothForms(t *testing.T) {
	t.Run("C-36_both_forms_compile_to_the_same", func(t *testing.T) {
		in := mustCompile(t, "X: {pkg.f: [{require_in: [{service: httpd}]}]}\nhttpd: {service.f: []}")
		plain := mustCompile(t, "X: {pkg.f: []}\nhttpd: {service.f: [{require: [{pkg: X}]}]}")
		var texts []string
		for _, low := range []*Low{in, plain} {
			var b strings.Builder
			if err := WriteJSON(&b, low.Value()); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, b.String())
		}
		if texts[0] != texts[1] {
			t.Errorf("low data differ:\n%s\n%s", texts[0], texts[1])
		}
		if got := sequenceOf(in); got != "X httpd" {
			t.Errorf("sequence %s", got)
		}
	})
}

func TestExtend(t *testing.T) {
	low := mustCompile(t, `
include: [b]
extend:
  x:
    m:
      - mode: 2
      - require: [z]
    n.g: []
  thing:
    o: [h]
  y:
    m: [{order: 1}]
z: {m.f: []}
-- b.sls --
x:
  m.f:
    - mode: 1
    - user: u
    - require: [y]
y: {m.f: []}
named: {o.f: [{name: thing}]}
`)
	var got []any
	for _, call := range low.Calls {
		got = append(got, call.Value())
	}
	compareJSON(t, got, `[
		{"name": "y", "state": "m", "__id__": "y", "fun": "f", "__env__": "base", "__sls__": "b", "order": 1},
		{"name": "x", "mode": 2, "user": "u", "require": ["y", "z"], "state": "m", "__id__": "x", "fun": "f",
			"__env__": "base", "__sls__": "b", "order": 10000},
		{"name": "thing", "state": "o", "__id__": "named", "fun": "h", "__env__": "base", "__sls__": "b", "order": 10002},
		{"name": "z", "state": "m", "__id__": "z", "fun": "f", "__env__": "base", "__sls__": "blah", "order": 10003},
		{"name": "x", "state": "n", "__id__": "x", "fun": "g", "__env__": "base", "__sls__": "b", "order": 10103}]`)
}

func TestExclude(t *testing.T) {
	low := mustCompile(t,
		"include: [b, c]\nexclude: [{id: x}, c]\nx: {m.f: []}\ny: {m.f: []}\n-- b.sls --\nb: {m.f: []}\n-- c.sls --\nc: {m.f: []}\n")
	if got, want := ordersOf(low), "b=10000 y=10003"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
