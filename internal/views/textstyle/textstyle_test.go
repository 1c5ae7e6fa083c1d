// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package textstyle

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

func TestWrap(t *testing.T) {
	tests := map[string]struct {
		text  string
		width int
		want  []string
	}{
		"short":          {"a b", 10, []string{"a b"}},
		"exact":          {"abc def", 7, []string{"abc def"}},
		"one more":       {"abc def", 6, []string{"abc", "def"}},
		"long word":      {"a abcdefghijkl b", 5, []string{"a", "abcdefghijkl", "b"}},
		"own lines":      {"a\n\nb\n", 5, []string{"a", "", "b"}},
		"code":           {"text that is long\n  code that is long", 10, []string{"text that", "is long", "  code that is long"}},
		"no width":       {"a b c", 0, []string{"a b c"}},
		"wide letters":   {"日本 日本", 7, []string{"日本", "日本"}},
		"colours":        {"\x1b[31mab\x1b[0m cd", 5, []string{"\x1b[31mab\x1b[0m cd"}},
		"several spaces": {"a   b cccccc", 6, []string{"a b", "cccccc"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Wrap(test.text, test.width)); diff != "" {
				t.Errorf("Wrap(%q, %d) (-want +got):\n%s", test.text, test.width, diff)
			}
		})
	}
}

func TestStyle(t *testing.T) {
	for name, decorate := range map[string]func(Style, string) string{
		"bold": Style.Bold, "dim": Style.Dim, "underline": Style.Underline, "red": Style.Red,
		"green": Style.Green, "yellow": Style.Yellow, "cyan": Style.Cyan, "symbol": Style.Symbol,
	} {
		if got := decorate(Style{}, "-/+"); got != "-/+" {
			t.Errorf("%s without colour gives %q", name, got)
		}
		colored := decorate(Style{Color: true}, "-/+")
		if colored == "-/+" || ansi.Strip(colored) != "-/+" {
			t.Errorf("%s with colour gives %q", name, colored)
		}
		if got := decorate(Style{Color: true}, ""); got != "" {
			t.Errorf("%s of nothing gives %q", name, got)
		}
	}
}

func TestFold(t *testing.T) {
	for name, test := range map[string]struct {
		width      int
		text, want string
	}{
		"a sentence":       {12, "\nThere is no undo.\n\n", "\nThere is no\nundo.\n\n"},
		"indented":         {12, "  There is no undo.\n  Enter: ", "  There is\n  no undo.\n  Enter: "},
		"columns":          {8, "name  value  other\n", "name  value  other\n"},
		"a long word":      {4, "a /a/long/path b", "a\n/a/long/path\nb"},
		"any width":        {0, "There is no undo.", "There is no undo."},
		"nothing":          {3, "", ""},
		"only line ends":   {3, "\n\n", "\n\n"},
		"colours are wide": {5, "\x1b[1mbold\x1b[0m x", "\x1b[1mbold\x1b[0m\nx"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Fold(test.text, test.width); got != test.want {
				t.Errorf("Fold(%q, %d) = %q, want %q", test.text, test.width, got, test.want)
			}
		})
	}
}
