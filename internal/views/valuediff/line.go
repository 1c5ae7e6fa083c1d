// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package valuediff

import (
	"strings"
	"unicode/utf8"
)

// Line writes a value on one line, cut after so many letters with an ellipsis. Nil is written as a
// dash.
func Line(v *Value, letters int) string {
	l := &line{left: letters, unknown: NotKnown}
	l.value(v)
	return l.text()
}

// line is a text that ends after so many letters.
type line struct {
	b    strings.Builder
	left int // below zero for one that was cut

	unknown string // in place of values that are not known
}

func (l *line) text() string {
	if l.left < 0 {
		return l.b.String() + "…"
	}
	return l.b.String()
}

func (l *line) write(text string) {
	if l.left < 0 {
		return
	}
	if n := utf8.RuneCountInString(text); n <= l.left {
		l.left -= n
		l.b.WriteString(text)
		return
	}
	for _, r := range text {
		if l.left == 0 {
			break
		}
		l.left--
		l.b.WriteRune(r)
	}
	l.left = -1
}

func (l *line) value(v *Value) {
	switch {
	case l.left < 0:
	case v == nil:
		l.write("-")
	case v.hidden():
		l.write(hiddenText(v))
	case v.Kind == Null:
		l.write("null")
	case v.Kind == Unknown:
		l.write(l.unknown)
	case v.Kind == String:
		l.write(Quote(v.Text[:min(len(v.Text), utf8.UTFMax*(l.left+1))])) // of a long text no more is of use
	case v.Kind == List:
		l.parts("[", "]", len(v.Elements), func(i int) { l.value(v.Elements[i]) })
	case v.Kind == Object:
		l.parts("{", "}", len(v.Names), func(i int) {
			l.write(keyText(v.Names[i], v.QuoteKeys) + " = ")
			l.value(v.Parts[v.Names[i]])
		})
	default:
		l.write(v.Text)
	}
}

func (l *line) parts(opener, closer string, n int, part func(int)) {
	l.write(opener)
	for i := 0; i < n && l.left >= 0; i++ {
		if i > 0 {
			l.write(", ")
		}
		part(i)
	}
	l.write(closer)
}
