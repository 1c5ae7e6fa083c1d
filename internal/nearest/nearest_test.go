// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package nearest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

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
		{"aab", "aba", 1},
		{"kitten", "sitting", 3},
		{"ca", "abc", 3},
	} {
		if got := editDistance(test.a, test.b, 9); got != test.want {
			t.Errorf("editDistance(%q, %q): got %d, want %d", test.a, test.b, got, test.want)
		}
		if back := editDistance(test.b, test.a, 9); back != test.want {
			t.Errorf("editDistance(%q, %q): got %d, want %d", test.b, test.a, back, test.want)
		}
	}
}

// Distances that are left out or not counted to the end make no difference up to the limit.
func TestEditDistanceIsLimited(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		letters := make([]byte, random.IntN(9))
		for i := range letters {
			letters[i] = "abc"[random.IntN(3)]
		}
		return string(letters)
	}
	for range 20_000 {
		a, b, most := word(), word(), random.IntN(5)
		exact := editDistance("<"+a+">", "["+b+"]", 99) - 2 // nothing in common at the ends
		if got := editDistance(a, b, most); min(got, most+1) != min(exact, most+1) {
			t.Fatalf("editDistance(%q, %q, %d): got %d, want %d", a, b, most, got, exact)
		}
	}
}

func TestName(t *testing.T) {
	for _, test := range []struct {
		given string
		names []string
		want  string
	}{
		{"ntework", []string{"app", "network"}, "network"},
		{"netwok", []string{"network", "netwock"}, "netwock"}, // as near, and smaller
		{"netwok", []string{"netwock", "network"}, "netwock"},
		{"net", []string{"database"}, ""},
		{"net", nil, ""},
		{strings.Repeat("x", 100_000), []string{strings.Repeat("x", 99_999)}, ""}, // takes no time
		{"net", []string{strings.Repeat("x", 100_000)}, ""},
	} {
		if got := Name(test.given, test.names); got != test.want {
			t.Errorf("Name(%.20q, %.40q): got %q, want %q", test.given, test.names, got, test.want)
		}
	}
}

// A file of mistakes does not take time in proportion to mistakes and names.
func TestHintsAreForTheFirstMistakes(t *testing.T) {
	var h Hints
	hints := 0
	for range 1000 {
		if h.DidYouMean("ntework", slices.Values([]string{"network"})) != "" {
			hints++
		}
	}
	if hints != 100 {
		t.Errorf("there were %d hints, want 100", hints)
	}
}
