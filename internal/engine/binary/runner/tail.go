// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"bytes"
	"errors"
	"io"
)

// maxLine bounds the bytes kept of a line. The longest that an engine writes are events with the
// values of all outputs.
const maxLine = 64 << 20

// tail delivers the lines of a file that is being written. The methods of a nil tail do nothing.
type tail struct {
	file    io.Reader
	deliver func(line []byte)
	blank   bool   // empty lines are delivered, too
	partial []byte // of the last line, which is cut at maxLine
	chunk   [64 << 10]byte
}

// read delivers the lines that were completed since the last call, and reports whether there was
// anything new.
func (t *tail) read() (progress bool, err error) {
	if t == nil {
		return false, nil
	}
	for {
		n, err := t.file.Read(t.chunk[:])
		t.split(t.chunk[:n])
		progress = progress || n > 0
		switch {
		case errors.Is(err, io.EOF), err == nil && n == 0:
			return progress, nil
		case err != nil:
			return progress, err
		}
	}
}

func (t *tail) split(data []byte) {
	for {
		line, rest, found := bytes.Cut(data, []byte("\n"))
		if !found {
			t.append(data)
			return
		}
		t.append(line)
		t.line(t.partial)
		t.partial, data = nil, rest
	}
}

func (t *tail) append(data []byte) {
	t.partial = append(t.partial, data[:min(len(data), maxLine-len(t.partial))]...)
}

func (t *tail) line(line []byte) {
	if line = bytes.TrimSuffix(line, []byte("\r")); len(line) > 0 || t.blank {
		t.deliver(line)
	}
}

// finish reads the rest once the writer is gone, including a last line without an end.
func (t *tail) finish() error {
	if t == nil {
		return nil
	}
	_, err := t.read()
	if len(t.partial) > 0 {
		t.line(t.partial)
	}
	t.partial = nil
	return err
}
