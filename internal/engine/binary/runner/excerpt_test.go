// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExcerpt(t *testing.T) {
	for name, test := range map[string]struct {
		lines string
		want  string
	}{
		"nothing":               {"", ""},
		"all in the head":       {"a b c", "a b c"},
		"head and tail":         {"aaaa bbbb cccc", "aaaa bbbb cccc"},
		"the middle is dropped": {"aaaa bbbb cccc dddd eeee ffff", "aaaa bbbb " + omitted + " eeee ffff"},
		"short ones after":      {"aaaa bbbb cccc dddd eeee ffff a b c", "aaaa bbbb " + omitted + " a b c"},
		"a line that is larger": {"aaaa bbbbbbbbbbbbbbbb c", "aaaa " + omitted + " c"},
	} {
		t.Run(name, func(t *testing.T) {
			e := excerpt{head: 10, tail: 10}
			for _, line := range strings.Fields(test.lines) {
				e.add(line)
			}
			got := strings.ReplaceAll(e.String(), "\n", " ")
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestReadExcerpt(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for content, want := range map[string]string{"": "", "12345678": "12345678", "123456789": "1234\n" + omitted + "\n6789"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readExcerpt(name, 4); got != want || err != nil {
			t.Errorf("readExcerpt of %q = %q, %v; want %q", content, got, err, want)
		}
	}
	if _, err := readExcerpt(name+"x", 4); err == nil {
		t.Error("no error for a file that is missing")
	}
}

// However long a line gets, the part of it that is kept is bounded.
func TestTailCutsLines(t *testing.T) {
	var lengths []int
	long := bytes.Repeat([]byte("x"), maxLine+100)
	tl := &tail{file: bytes.NewReader(append(long, "\nnext\n"...)), deliver: func(line []byte) { lengths = append(lengths, len(line)) }}
	if err := tl.finish(); err != nil {
		t.Fatal(err)
	}
	if len(lengths) != 2 || lengths[0] != maxLine || lengths[1] != 4 {
		t.Errorf("lines of %d bytes, want %d and 4", lengths, maxLine)
	}
}
