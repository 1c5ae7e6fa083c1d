// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"strings"
	"testing"
)

func TestErrorLines(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"none":          {"all is well\n", ""},
		"plain":         {"\nError: Invalid reference\n\n  on main.tf\n", "Invalid reference"},
		"in a box":      {"╷\n│ Error: Invalid reference\n│\n│ Error: Another\n╵\n", "Invalid reference"},
		"in colours":    {"\x1b[31m╷\x1b[0m\n\x1b[31m│\x1b[0m \x1b[0m\x1b[1m\x1b[31mError: \x1b[0m\x1b[0m\x1b[1mInvalid reference\x1b[0m\r\n", "Invalid reference"},
		"a warning":     {"│ Warning: Old\n", ""},
		"in a text":     {"it says Error: no\n", ""},
		"without words": {"Error: \n", ""},
		"very long":     {"Error: " + strings.Repeat("x", 5000) + "\nError: short\n", "short"},
		"unfinished":    {"Error: half", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 7, len(test.text)} {
				var to strings.Builder
				e := &errorLines{to: &to}
				for text := test.text; text != ""; {
					n := min(size, len(text))
					if _, err := e.Write([]byte(text[:n])); err != nil {
						t.Fatal(err)
					}
					text = text[n:]
				}
				if e.first != test.want || to.String() != test.text {
					t.Errorf("in pieces of %d: says %q and passes on %q, want %q and all", size, e.first, to.String(), test.want)
				}
			}
		})
	}
}
