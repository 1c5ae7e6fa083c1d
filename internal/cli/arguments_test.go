// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import "testing"

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
