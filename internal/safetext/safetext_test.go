// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package safetext

import (
	"testing"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\né日":        "a\tb\né日",
		"\x1b[31m":        "␛[31m",
		"a\r\nb":          "a\nb",
		"\x00\x07\x7f":    "␀␇␡",
		"\u009b2J\u0085x": "\ufffd2J\ufffdx",
		"a\x9b31m\xffb":   "a\ufffd31m\ufffdb", // no text
	} {
		if got := Clean(text); got != want {
			t.Errorf("Clean(%q) = %q, want %q", text, got, want)
		}
	}
}

// A name stays on its line and shows everything that is in it.
func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"plain":      "plain",
		"a\nb\tc\rd": "a␊b␉c␍d",
		"\x1b[2J":    "␛[2J",
		"\u202ex":    "\ufffdx",
		"a\r":        "a␍",
	} {
		if got := Name(name); got != want {
			t.Errorf("Name(%q): got %q, want %q", name, got, want)
		}
	}
}
