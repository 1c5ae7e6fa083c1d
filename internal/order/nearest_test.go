// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import "testing"

func TestEditDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "acb", 1},
		{"abc", "abd", 1},
		{"kitten", "sitting", 3},
		{"ca", "abc", 3},
	} {
		if got := editDistance(test.a, test.b); got != test.want {
			t.Errorf("editDistance(%q, %q): got %d, want %d", test.a, test.b, got, test.want)
		}
		if back := editDistance(test.b, test.a); back != test.want {
			t.Errorf("editDistance(%q, %q): got %d, want %d", test.b, test.a, back, test.want)
		}
	}
}
