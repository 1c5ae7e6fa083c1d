// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"strings"
	"testing"
)

func TestBatches(t *testing.T) {
	// Two kinds: capital letters are the second.
	g, numbers := build(t, "a A", "b B", "A [x]", "[x] c", "c C", "B D")
	kind := func(n int) int {
		if name := g.Node(n).Name; strings.ToUpper(name) == name {
			return 1
		}
		return 0
	}
	for selected, want := range map[string]string{
		"":      "a b|A B|c|C D",
		"c C D": "c|C D",
		"A D c": "A D|c",
	} {
		var s Selection
		if selected != "" {
			s = choose(g, numbers, selected)
		}
		var got []string
		for _, batch := range g.Batches(s, 2, kind) {
			got = append(got, names(g, batch))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("of %q: got %s, want %s", selected, strings.Join(got, "|"), want)
		}
	}
}
