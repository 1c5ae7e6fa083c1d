// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package viewtest

import (
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// Screen is as much of a terminal as the display uses. Anything else that is
// written to it fails the test.
type Screen struct {
	t      *testing.T
	width  int
	mu     sync.Mutex
	rows   [][]rune
	row    int
	column int
	cursor bool // visible
	writes int
}

// NewScreen returns an empty screen with a cursor.
func NewScreen(t *testing.T, width int) *Screen {
	return &Screen{t: t, width: width, cursor: true}
}

// Write implements [io.Writer].
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	text := string(p)
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				s.t.Fatalf("a sequence is cut off: %q", text)
			}
			s.control(rest[:end], rest[end])
			text = rest[end+1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		s.put(r)
		text = text[size:]
	}
	return len(p), nil
}

func (s *Screen) put(r rune) {
	switch r {
	case '\r':
		s.column = 0
		return
	case '\n':
		s.row++
		s.column = 0
		return
	}
	if s.column == s.width {
		s.row, s.column = s.row+1, 0
	}
	line := s.line()
	for len(*line) <= s.column {
		*line = append(*line, ' ')
	}
	(*line)[s.column] = r
	s.column++
}

func (s *Screen) line() *[]rune {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
	return &s.rows[s.row]
}

func (s *Screen) control(parameters string, final byte) {
	switch {
	case final == 'A':
		n := 0
		for _, r := range parameters {
			n = n*10 + int(r-'0')
		}
		s.row -= max(n, 1)
		if s.row < 0 {
			s.t.Fatal("the cursor moves above the first line")
		}
	case final == 'K' && (parameters == "" || parameters == "0"):
		line := s.line()
		*line = (*line)[:min(s.column, len(*line))]
	case final == 'J' && (parameters == "" || parameters == "0"):
		line := s.line()
		*line = (*line)[:min(s.column, len(*line))]
		s.rows = s.rows[:s.row+1]
	case parameters == "?25":
		s.cursor = final == 'h'
	case parameters == "?2026", final == 'm':
	default:
		s.t.Fatalf("an unexpected sequence: %q", parameters+string(final))
	}
}

// Text returns the text on the screen, and the text that has scrolled away.
func (s *Screen) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, row := range s.rows {
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// CursorVisible reports whether the cursor is shown.
func (s *Screen) CursorVisible() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cursor
}

// Writes returns how often something was written.
func (s *Screen) Writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}
