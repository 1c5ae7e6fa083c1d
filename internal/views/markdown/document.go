// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package markdown

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// room is the remainder of the greatest length of a text.
type room struct {
	left int
	full bool
}

// roomBeside returns the room that is left by texts which are there in any case.
func roomBeside(limit int, texts ...string) room { return room{left: limit - length(texts...)} }

// take takes room for texts as a whole, or none from here on.
func (r *room) take(texts ...string) bool {
	n := length(texts...)
	if r.full || n > r.left {
		r.full = true
		return false
	}
	r.left -= n
	return true
}

// length counts characters, as the sites do that limit their number.
func length(texts ...string) int {
	n := 0
	for _, text := range texts {
		n += utf8.RuneCountInString(text)
	}
	return n
}

// document takes text as long as there is room for it, and for the note that some is missing.
type document struct {
	note string
	room room
	b    strings.Builder
}

func newDocument(note string) *document {
	return &document{note: note, room: roomBeside(MaxLength, note)}
}

// add adds a text, as a line of a table, as a whole, or nothing from here on.
func (d *document) add(text string) {
	if d.room.take(text) {
		d.b.WriteString(text)
	}
}

// end returns the text, with the note if some is missing.
func (d *document) end() string {
	if d.room.full {
		d.b.WriteString(d.note)
	}
	return d.b.String()
}

// Code shows a text as it is, whatever signs are in it (rule M2).
func Code(name string) string { return "<code>" + Text(name) + "</code>" }

// Text writes all signs as entities that mean something in Markdown or HTML, and those that nobody
// sees by their numbers. An underscore between letters or digits means nothing.
func Text(s string) string {
	var b strings.Builder
	runes := []rune(s)
	inWord := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	for i, r := range runes {
		switch {
		// A browser breaks lines at U+2028 and U+2029, which are of categories of their own, and signs
		// of category Cf turn the direction of a text round.
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError || r == '\u2028' || r == '\u2029':
			fmt.Fprintf(&b, "U+%04X", r)
		case r == '_' && inWord(i-1) && inWord(i+1):
			b.WriteRune(r)
		case r < utf8.RuneSelf && !inWord(i) && !strings.ContainsRune(" .,-/:;()=\"'%", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
