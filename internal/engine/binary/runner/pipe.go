// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"errors"
	"os"
)

// pipe hands content over to a process such that reading it takes it away: the processes that it
// starts later find nothing there. The methods of a nil pipe do nothing.
type pipe struct {
	reader, writer *os.File
	rest           []byte // the bytes that did not fit
}

// newPipe returns a pipe that has as much of the content as fits, nil for nil.
func newPipe(content []byte) (*pipe, error) {
	if content == nil {
		return nil, nil
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &pipe{reader: reader, writer: writer}
	written, err := writeWhatFits(writer, content)
	if err != nil {
		return nil, errors.Join(err, p.discard())
	}
	p.rest = content[written:]
	return p, nil
}

// handOver starts the process that reads from the pipe. The bytes that fit into it are there even
// if this program is killed then; a process that reads less sees that it is cut off, as it is JSON.
func (p *pipe) handOver(start func() error) error {
	if p == nil {
		return start()
	}
	if err := start(); err != nil {
		return errors.Join(err, p.discard())
	}
	_ = p.reader.Close() //nolint:errcheck // nothing was written
	if len(p.rest) == 0 {
		p.close()
	}
	return nil
}

// discard closes a pipe for which no process was started.
func (p *pipe) discard() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.reader.Close(), p.writer.Close())
}

// write writes the rest. It ends when that was read, or the pipe is closed on either side.
func (p *pipe) write() {
	if p == nil || len(p.rest) == 0 {
		return
	}
	_, _ = p.writer.Write(p.rest) //nolint:errcheck // the process reports the missing bytes, if it still can
	p.close()
}

func (p *pipe) close() {
	if p != nil {
		_ = p.writer.Close() //nolint:errcheck // closed before, perhaps
	}
}
