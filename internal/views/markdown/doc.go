// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package markdown writes summaries as Markdown, for comments on pull requests and job summaries. What comes from configurations and providers is shown as it is,
// and can neither format anything nor mention anybody. No text is longer than [MaxLength]: what does not fit is left out, and the text says so.
package markdown

import (
	"strings"
	"unicode/utf8"
)

// MaxLength is how many bytes a text has at most: a comment on GitHub may have some more.
const MaxLength = 65_000

var special = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;", "*", "&#42;", "[", "&#91;", "]", "&#93;", "@", "&#64;", "~", "&#126;", `\`, "&#92;", "#", "&#35;",
	"\n", " ", "\r", " ", "\t", " ",
)

// cell is a text that stands for itself, also in a table.
func cell(text string) string { return special.Replace(text) }

// cut leaves out what is too much, in whole lines, with a note.
func cut(text, note string) string {
	if len(text) <= MaxLength {
		return text
	}
	room := MaxLength - len(note)
	end := strings.LastIndexByte(text[:room], '\n') + 1
	if end == 0 {
		for end = room; !utf8.RuneStart(text[end]); end-- {
		}
	}
	return text[:end] + note
}
