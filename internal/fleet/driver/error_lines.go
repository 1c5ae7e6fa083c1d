// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"bytes"
	"io"
	"regexp"
)

// errorLines passes on what a program prints as errors, and takes notice of the first line that says what is wrong, for the summary at the
// end. The zero value knows of no line.
type errorLines struct {
	to   io.Writer
	rest []byte // of a line that has not ended
	long bool   // the line is no such line, as it is too long

	first string // what it says; "" as long as there is none
}

// longestLine is more than a line has that people are to read.
const longestLine = 1 << 10

var colors = regexp.MustCompile(`\x1b\[[0-9;]*m`)

var errorLine = regexp.MustCompile(`^(?:[│|] ?)?Error: (\S.*)$`)

// Write implements [io.Writer].
func (e *errorLines) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		if e.first != "" {
			break
		}
		if e.long = e.long || len(e.rest)+len(line) > longestLine; !e.long {
			e.rest = append(e.rest, line...)
		}
		if line[len(line)-1] == '\n' {
			if match := errorLine.FindSubmatch(bytes.TrimRight(colors.ReplaceAll(e.rest, nil), " \r\n")); match != nil && !e.long {
				e.first = string(match[1])
			}
			e.rest, e.long = e.rest[:0], false
		}
	}
	return e.to.Write(text)
}

// programError is how a program ended that has said what is wrong.
type programError struct {
	end  error
	says string
}

func (e *programError) Error() string { return e.end.Error() + ": " + e.says }
func (e *programError) Unwrap() error { return e.end }
