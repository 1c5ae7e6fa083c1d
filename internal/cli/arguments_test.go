// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

func TestIsOpen(t *testing.T) {
	for source, want := range map[string]bool{
		"":                  false,
		"1 + 2\n":           false,
		"[\n":               true,
		"[1,\n2]\n":         false,
		"{ a = [\n":         true,
		"f(\n":              true,
		"\"${\n":            true,
		"\"${a}\"\n":        false,
		"<<EOT\nx\n":        true,
		"<<EOT\nx\nEOT\n":   false,
		"]\n":               false,
		"\"%{ if a }\n\"\n": false,
	} {
		if got := isOpen(source); got != want {
			t.Errorf("isOpen(%q): got %t, want %t", source, got, want)
		}
	}
}

func TestNameStart(t *testing.T) {
	for line, want := range map[string]string{
		"":                        "",
		"var.x":                   "var.x",
		"1 + var.x":               "var.x",
		"f(component.a":           "component.a",
		`component.a["k"].out`:    `component.a["k"].out`,
		`x[component.a["k"].out`:  `component.a["k"].out`,
		"[for k, v in component.": "component.",
	} {
		if got := line[nameStart(line):]; got != want {
			t.Errorf("nameStart(%q): got %q, want %q", line, got, want)
		}
	}
}

func objectAddresses(t *testing.T, state engine.State) string {
	t.Helper()
	objects, err := tfstate.ParseObjects(state)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, object := range objects {
		b.WriteString(object.Addr.String() + "\n")
	}
	return b.String()
}

func TestWithoutResource(t *testing.T) {
	const state = `{"version":4,"serial":3,"lineage":"l","outputs":{"o":{"value":1,"type":"number"}},"resources":[
		{"mode":"managed","type":"a","name":"x","provider":"p","instances":[
			{"index_key":0,"attributes":{}},{"index_key":1,"attributes":{}},{"index_key":1,"deposed":"0123abcd","attributes":{}}]},
		{"module":"module.m","mode":"managed","type":"a","name":"x","provider":"p","instances":[{"index_key":1,"attributes":{}}]}]}`
	got, err := withoutResource([]byte(state), "a.x[1]")
	if err != nil {
		t.Fatal(err)
	}
	if kept, want := objectAddresses(t, got), "a.x[0]\nmodule.m.a.x[1]\n"; kept != want {
		t.Errorf("kept:\n%swant:\n%s", kept, want)
	}
	if !strings.Contains(string(got), `"lineage":"l"`) || !strings.Contains(string(got), `"outputs"`) {
		t.Errorf("the rest has changed: %s", got)
	}
}
