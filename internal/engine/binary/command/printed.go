// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package command

import "strings"

// Unframe removes the frame that the engine draws around messages.
func Unframe(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		line = strings.TrimPrefix(strings.TrimPrefix(line, "│"), " ")
		if line != "╷" && line != "╵" {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// LastLines returns the last lines of a text, as shortened by [Terse].
func LastLines(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return Terse(strings.Join(lines[max(0, len(lines)-count):], "\n"))
}

// Terse returns the engine's output in a length to show: of much, the beginning and the end. A
// single line may be endless.
func Terse(text string) string {
	const end = 2 << 10 // bytes
	if len(text) <= 2*end {
		return text
	}
	return strings.ToValidUTF8(text[:end], "") + "\n[… left out …]\n" + strings.ToValidUTF8(text[len(text)-end:], "")
}
