// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// quote writes a string in YAML, in double quotes and without the characters that open a template.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range text {
		switch {
		case opensTemplate(text[i:]):
			b.WriteString(`\x7b`)
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func list(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// comment writes a text with as many lines as it has.
func comment(b *strings.Builder, indent, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		b.WriteString(indent + "# ")
		for i, r := range line {
			b.WriteRune(inComment(r))
			if opensTemplate(line[i:]) {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
}

// opensTemplate reports whether a text begins with the characters that open a template in files
// that are rendered before they are read, also in comments.
func opensTemplate(text string) bool {
	return len(text) > 1 && text[0] == '{' && strings.IndexByte("{%#", text[1]) >= 0
}

// inComment replaces characters that a line of YAML cannot have.
func inComment(r rune) rune {
	switch {
	case r < ' ' || r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
		return ' '
	}
	return r
}

// maxSeconds is the longest time that other formats allow, which is more than thirty years.
const maxSeconds = 1e9 - 1

// seconds writes a time.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(min(d.Seconds(), maxSeconds), 'f', -1, 64)
}
