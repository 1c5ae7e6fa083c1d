// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package position

import (
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

func TestPositions(t *testing.T) {
	// Characters of one to four bytes, one of which is two code units, and all three ends of lines.
	const text = "a = \"é\"\r\nb = \"日本\"\nc = \"😀x\"\rd"
	for want, pos := range map[int]protocol.Position{
		0:         {},
		5:         {Line: 0, Character: 5}, // before é
		7:         {Line: 0, Character: 6}, // after it
		8:         {Line: 0, Character: 7},
		10:        {Line: 1, Character: 0},
		15:        {Line: 1, Character: 5},
		18:        {Line: 1, Character: 6},
		21:        {Line: 1, Character: 7},
		23:        {Line: 2, Character: 0},
		28:        {Line: 2, Character: 5},
		32:        {Line: 2, Character: 7}, // after the emoji
		35:        {Line: 3, Character: 0},
		len(text): {Line: 3, Character: 1},
	} {
		made := NewText([]byte(text))
		if got := made.Position(want); got != pos {
			t.Errorf("Position(%d) = %v, want %v", want, got, pos)
		}
		if got := made.Offset(pos); got != want {
			t.Errorf("Offset(%v) = %d, want %d", pos, got, want)
		}
	}
}

func TestPlacesOutside(t *testing.T) {
	text := NewText([]byte("ab\r\n😀\n"))
	for pos, want := range map[protocol.Position]int{
		{Line: 0, Character: 9}:               2, // before the line break
		{Line: 1, Character: 1}:               4, // in the middle of a character
		{Line: 7, Character: 0}:               9,
		{Line: 1<<32 - 1, Character: 1 << 31}: 9,
	} {
		if got := text.Offset(pos); got != want {
			t.Errorf("Offset(%v) = %d, want %d", pos, got, want)
		}
	}
	if got, want := text.Position(6), (protocol.Position{Line: 1}); got != want {
		t.Errorf("Position in the middle of a character = %v, want %v", got, want)
	}
	if got, want := text.Position(99), (protocol.Position{Line: 2}); got != want {
		t.Errorf("Position after the end = %v, want %v", got, want)
	}
	if got, want := text.Position(-1), (protocol.Position{}); got != want {
		t.Errorf("Position before the beginning = %v, want %v", got, want)
	}
}

func TestReplaced(t *testing.T) {
	text := NewText([]byte("x = \"😀\"\n"))
	rng := protocol.Range{Start: protocol.Position{Character: 5}, End: protocol.Position{Character: 7}}
	if got := string(text.Replaced(rng, "é\n").Bytes()); got != "x = \"é\n\"\n" {
		t.Errorf("Replaced = %q", got)
	}
}

// Every beginning of a character has one place, which leads back to it, and places come in the
// order of bytes.
func FuzzPositions(f *testing.F) {
	f.Add("a = \"é\"\r\nb\rc\n😀")
	f.Add("\xff\xfe\r\r\n")
	f.Fuzz(func(t *testing.T, src string) {
		text := NewText([]byte(src))
		before := protocol.Position{}
		for at := 0; at <= len(src); {
			pos := text.Position(at)
			if pos.Line < before.Line || (pos.Line == before.Line && pos.Character < before.Character) {
				t.Fatalf("the place of byte %d is %v, before %v", at, pos, before)
			}
			before = pos
			if at > 0 && at < len(src) && src[at-1] == '\r' && src[at] == '\n' {
				at++ // between the two, an editor has no place
				continue
			}
			ends := at < len(src) && (src[at] == '\n' || src[at] == '\r')
			if got := text.Offset(pos); got != at {
				t.Fatalf("byte %d is at %v, which is byte %d (at the end of a line: %v)", at, pos, got, ends)
			}
			_, size := utf8.DecodeRuneInString(src[at:])
			at += max(1, size)
		}
		last := text.LineStart(text.Lines() - 1)
		if want := len(utf16.Encode([]rune(src[last:]))); int(before.Character) != want {
			t.Errorf("the last line has %d code units, want %d", before.Character, want)
		}
	})
}
