// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package position converts between places in texts as HCL and as editors have them.
//
// HCL counts bytes. The Language Server Protocol counts lines from 0, and in a line UTF-16 code
// units. A line ends with a line feed, a carriage return, or both. All conversions go by byte
// offsets: the lines and columns of HCL, in which a column is a character as people see it, are not
// looked at.
//
// Places outside of a text become the nearest ones in it, and those in the middle of a character
// its beginning, so that no text of a client can lead out of a text here.
package position

import (
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"go.lsp.dev/protocol"
)

// Text is a text with the places of its lines. It is immutable.
type Text struct {
	bytes []byte
	lines []int // where they begin
}

// NewText returns a text. The caller must not change the bytes any more.
func NewText(src []byte) *Text {
	t := &Text{bytes: src, lines: []int{0}}
	for i, b := range src {
		if b == '\n' || (b == '\r' && (i+1 == len(src) || src[i+1] != '\n')) {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// Bytes returns the text. The caller must not change it.
func (t *Text) Bytes() []byte { return t.bytes }

// Lines returns how many lines there are, one at least.
func (t *Text) Lines() int { return len(t.lines) }

// LineStart returns where a line begins, counted from 0. After the last one that is the end of the
// text.
func (t *Text) LineStart(line int) int {
	if line >= len(t.lines) {
		return len(t.bytes)
	}
	return t.lines[max(0, line)]
}

// LineEnd returns the end of a line, without its line break.
func (t *Text) LineEnd(line int) int {
	start, end := t.LineStart(line), t.LineStart(line+1)
	for end > start && (t.bytes[end-1] == '\n' || t.bytes[end-1] == '\r') {
		end--
	}
	return end
}

// Line returns the line of a byte, counted from 0.
func (t *Text) Line(offset int) int {
	return sort.SearchInts(t.lines, t.clamp(offset)+1) - 1
}

func (t *Text) clamp(offset int) int { return min(max(0, offset), len(t.bytes)) }

// Position returns the place of a byte.
func (t *Text) Position(offset int) protocol.Position {
	offset = t.clamp(offset)
	line := t.Line(offset)
	units := 0
	for at := t.lines[line]; at < offset; {
		r, size := utf8.DecodeRune(t.bytes[at:])
		if at += size; at > offset {
			break
		}
		units += unitsOf(r)
	}
	return protocol.Position{Line: uint32(line), Character: uint32(units)} //nolint:gosec // smaller than a text
}

// Offset returns the byte at a place.
func (t *Text) Offset(pos protocol.Position) int {
	if uint64(pos.Line) >= uint64(len(t.lines)) {
		return len(t.bytes)
	}
	at, end := t.lines[pos.Line], t.LineEnd(int(pos.Line))
	for units := uint32(0); at < end; {
		r, size := utf8.DecodeRune(t.bytes[at:])
		if units += uint32(unitsOf(r)); units > pos.Character { //nolint:gosec // 1 or 2
			break
		}
		at += size
	}
	return at
}

// unitsOf returns how many code units of UTF-16 a character takes. A byte that is none of UTF-8 is
// one, as editors show it.
func unitsOf(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// Pos returns the place of a byte as HCL has it, but for the column, which is in bytes.
func (t *Text) Pos(offset int) hcl.Pos {
	offset = t.clamp(offset)
	line := t.Line(offset)
	return hcl.Pos{Line: line + 1, Column: offset - t.lines[line] + 1, Byte: offset}
}

// Range returns a range of HCL as editors have it.
func (t *Text) Range(rng hcl.Range) protocol.Range {
	return t.Span(rng.Start.Byte, rng.End.Byte)
}

// Span returns the range between two bytes.
func (t *Text) Span(start, end int) protocol.Range {
	return protocol.Range{Start: t.Position(start), End: t.Position(max(start, end))}
}

// Replaced returns the text with a part of it replaced.
func (t *Text) Replaced(rng protocol.Range, with string) *Text {
	start := t.Offset(rng.Start)
	end := max(start, t.Offset(rng.End))
	return NewText(slices.Concat(t.bytes[:start], []byte(with), t.bytes[end:]))
}
