// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/safetext"
)

// colors removes all terminal control sequences but colours, and keeps those within their lines: a
// colour that a line leaves on is turned on again in the next one. The zero value begins without
// any.
type colors struct{ on string }

// mostColors limits the bytes remembered of colours that are never reset.
const mostColors = 256

// line returns a line, which is given without its end, as a terminal shows it.
func (c *colors) line(text string) string {
	var b strings.Builder
	b.WriteString(c.on)
	colored := c.on != ""
	for text := afterReturn(strings.ToValidUTF8(text, "\ufffd")); text != ""; {
		sequence, _, n, _ := ansi.DecodeSequence(text, ansi.NormalState, nil)
		text = text[n:]
		switch {
		case isColor(sequence):
			b.WriteString(sequence)
			colored = true
			c.remember(sequence)
		case sequence[0] != ansi.ESC:
			b.WriteString(safetext.Clean(sequence))
		}
	}
	if colored {
		b.WriteString(ansi.ResetStyle)
	}
	return b.String()
}

func (c *colors) remember(sequence string) {
	switch parameters := sequence[len("\x1b[") : len(sequence)-1]; {
	case parameters == "" || parameters == "0":
		c.on = ""
	case strings.HasPrefix(parameters, "0;") || len(c.on)+len(sequence) > mostColors:
		c.on = sequence
	default:
		c.on += sequence
	}
}

// isColor reports whether a sequence selects colours or the like.
func isColor(sequence string) bool {
	parameters, ok := strings.CutPrefix(sequence, "\x1b[")
	parameters, final := strings.CutSuffix(parameters, "m")
	return ok && final && strings.Trim(parameters, "0123456789;:") == ""
}

// afterReturn removes the text before a line's last carriage return, which the rest overwrites.
func afterReturn(text string) string {
	text = strings.TrimRight(text, "\r")
	return text[strings.LastIndexByte(text, '\r')+1:]
}

// activity turns a line, even an unfinished one, into text for a table; "" if the line is blank.
func activity(text string) string {
	text = ansi.Strip(afterReturn(strings.ToValidUTF8(text, "\ufffd")))
	return safetext.Clean(strings.Join(strings.Fields(text), " "))
}
