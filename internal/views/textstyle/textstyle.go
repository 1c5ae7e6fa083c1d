// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package textstyle decorates text for terminals, or leaves it plain.
package textstyle

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Style decorates text. The zero value leaves it plain.
type Style struct {
	Color bool
}

const reset = "\x1b[0m"

func (s Style) wrap(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + reset
}

// Bold makes text bold.
func (s Style) Bold(text string) string { return s.wrap("1", text) }

// Dim makes text grey.
func (s Style) Dim(text string) string { return s.wrap("90", text) }

// Underline underlines text.
func (s Style) Underline(text string) string { return s.wrap("4", text) }

// Red is for errors and destroyed objects.
func (s Style) Red(text string) string { return s.wrap("31", text) }

// Green is for success and new objects.
func (s Style) Green(text string) string { return s.wrap("32", text) }

// Yellow is for warnings and changed objects.
func (s Style) Yellow(text string) string { return s.wrap("33", text) }

// Cyan is for objects that are only read.
func (s Style) Cyan(text string) string { return s.wrap("36", text) }

// Symbol colours each character of a change symbol such as "-/+" by its meaning.
func (s Style) Symbol(symbol string) string {
	if !s.Color {
		return symbol
	}
	var b strings.Builder
	for _, r := range symbol {
		switch r {
		case '+':
			b.WriteString(s.Green("+"))
		case '-':
			b.WriteString(s.Red("-"))
		case '~':
			b.WriteString(s.Yellow("~"))
		case '<', '=':
			b.WriteString(s.Cyan(string(r)))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Wrap breaks text into lines of at most width columns, at spaces. Lines that
// begin with a space are kept as they are, because they are code or lists.
// A word longer than a line stays whole, so that it can be copied.
func Wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if width <= 0 || strings.HasPrefix(line, " ") || ansi.StringWidth(line) <= width {
			lines = append(lines, line)
			continue
		}
		lines = append(lines, wrapLine(line, width)...)
	}
	return lines
}

func wrapLine(line string, width int) []string {
	var lines []string
	current, columns := "", 0
	for word := range strings.FieldsSeq(line) {
		w := ansi.StringWidth(word)
		if current != "" && columns+1+w > width {
			lines = append(lines, current)
			current, columns = "", 0
		}
		if current != "" {
			current += " "
			columns++
		}
		current += word
		columns += w
	}
	return append(lines, current)
}

// Fold breaks lines that are wider than width at spaces, and indents continuations as the line
// itself is. Lines with columns, which have several spaces between words, stay as they are, and so
// does the end of the text. A width of 0 stands for any.
func Fold(text string, width int) string {
	if width <= 0 {
		return text
	}
	body := strings.TrimRight(text, " \n")
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		words := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(words)]
		if ansi.StringWidth(line) > width && !strings.Contains(words, "  ") {
			lines[i] = indent + strings.Join(wrapLine(words, width-len(indent)), "\n"+indent)
		}
	}
	return strings.Join(lines, "\n") + text[len(body):]
}
