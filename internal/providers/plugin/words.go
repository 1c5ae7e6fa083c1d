// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugin

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// panicLine is how a Go program begins to explain that it has crashed.
var panicLine = regexp.MustCompile(`^(?:panic|fatal error): .*`)

// lastWords remembers from the standard error of a process why it has crashed.
type lastWords struct {
	mu struct {
		sync.Mutex
		line  []byte // the last one, as far as it was written
		words string
	}
}

// maxWords limits the text that is shown, and the memory for a line without end.
const maxWords = 1000

// Write implements [io.Writer].
func (w *lastWords) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range bytes.Lines(data) {
		w.mu.line = append(w.mu.line, line[:min(len(line), maxWords)]...)
		if w.mu.words == "" && panicLine.Match(w.mu.line) {
			w.mu.words = strings.TrimSpace(string(w.mu.line[:min(len(w.mu.line), maxWords)]))
		}
		if bytes.HasSuffix(line, []byte("\n")) || len(w.mu.line) > maxWords {
			w.mu.line = w.mu.line[:0]
		}
	}
	return len(data), nil
}

// String returns the words, empty if there were none.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.words
}
