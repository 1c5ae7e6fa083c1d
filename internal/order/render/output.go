// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package render

import (
	"bytes"
	"io"
	"sync"
)

// heldBack limits how much output of a node waits for its end.
const heldBack = 1 << 20

// Output collects what nodes print, each line with the name of its node.
type Output struct {
	out, err io.Writer
	grouped  bool

	mu sync.Mutex // held while something is written
}

// NewOutput returns an output. If it is grouped, what a node prints is shown together at its end, or when there is very
// much of it; otherwise at once, also what is not yet a whole line, such as a question.
func NewOutput(out, err io.Writer, grouped bool) *Output {
	return &Output{out: out, err: err, grouped: grouped}
}

// Node returns where a node is to print. It must be closed.
func (o *Output) Node(name string) *NodeOutput {
	n := &NodeOutput{output: o}
	prefix := []byte(name + " | ")
	n.Out = &lines{node: n, to: o.out, prefix: prefix, start: true}
	n.Err = &lines{node: n, to: o.err, prefix: prefix, start: true}
	return n
}

// NodeOutput is where a node prints.
type NodeOutput struct {
	Out, Err io.Writer

	output *Output
	held   struct {
		sync.Mutex
		pieces []piece
		size   int
	}
}

type piece struct {
	to   io.Writer
	text []byte
}

// Close shows what is still held back and ends unfinished lines.
//
// Errors: those of writing.
func (n *NodeOutput) Close() error {
	for _, w := range []io.Writer{n.Out, n.Err} {
		if l := w.(*lines); !l.start {
			if _, err := l.Write([]byte("\n")); err != nil {
				return err
			}
		}
	}
	n.held.Lock()
	defer n.held.Unlock()
	return n.flush()
}

// flush writes what is held back, whose lock the caller has.
func (n *NodeOutput) flush() error {
	n.output.mu.Lock()
	defer n.output.mu.Unlock()
	for _, p := range n.held.pieces {
		if _, err := p.to.Write(p.text); err != nil {
			return err
		}
	}
	n.held.pieces, n.held.size = nil, 0
	return nil
}

func (n *NodeOutput) write(p piece) error {
	n.held.Lock()
	defer n.held.Unlock()
	n.held.pieces = append(n.held.pieces, p)
	n.held.size += len(p.text)
	if n.output.grouped && n.held.size < heldBack {
		return nil
	}
	return n.flush()
}

// lines puts a prefix before each line.
type lines struct {
	node   *NodeOutput
	to     io.Writer
	prefix []byte
	start  bool // of a line
}

// Write implements [io.Writer].
func (l *lines) Write(text []byte) (int, error) {
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		if l.start {
			b.Write(l.prefix)
		}
		b.Write(line)
		l.start = line[len(line)-1] == '\n'
	}
	if err := l.node.write(piece{l.to, b.Bytes()}); err != nil {
		return 0, err
	}
	return len(text), nil
}
