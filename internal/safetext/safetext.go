// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package safetext makes untrusted text, such as names and messages of providers, safe to show.
package safetext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text that came from elsewhere safe to show: control characters other than newline and
// tab, which could steer a terminal or turn the direction of writing, become visible, and so do
// bytes that are no text: some terminals take them for control characters.
func Clean(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, isControl) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case !isControl(r):
			return r
		case r == '\r':
			return -1
		case r < 0x20:
			return 0x2400 + r // the control pictures
		case r == 0x7f:
			return 0x2421
		}
		return '\ufffd'
	}, text)
}

// Name is [Clean] for text that must stay on one line and say nothing about the lines around it,
// such as the name of a file.
func Name(text string) string {
	if strings.ContainsAny(text, "\n\t\r") {
		text = strings.NewReplacer("\n", "\u240a", "\t", "\u2409", "\r", "\u240d").Replace(text)
	}
	return Clean(text)
}

func isControl(r rune) bool {
	return r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0) || unicode.Is(unicode.Bidi_Control, r)
}
