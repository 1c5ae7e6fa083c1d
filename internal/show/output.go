// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/views/live"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
)

// heldBack limits how much output of a node waits for its end.
const heldBack = 1 << 20

// Output collects the output of nodes, each line with the name of its node.
type Output struct {
	out, err io.Writer
	grouped  bool
	board    *Board    // nil if there is none
	headings *Headings // in place of prefixes; nil if there are none

	mu   sync.Mutex // held while something is written
	last string     // the node that has written last
	held int        // how many want that nothing is written
	late []late     // output to write when no hold is left
	lost error      // first error of writing held output
}

// late is output of a node that arrived during a hold.
type late struct {
	name   string
	pieces []piece
}

// Hold keeps the output of nodes from being shown until release is called, so that somebody can be
// asked something. Nodes do not wait for that. Above a board it does nothing: a board holds back
// all output by itself while it is suspended.
func (o *Output) Hold() (release func()) {
	if o.board != nil {
		return func() {}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held++
	return sync.OnceFunc(o.release)
}

func (o *Output) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held--; o.held > 0 {
		return
	}
	all := o.late
	o.late = nil
	for _, l := range all {
		if err := o.write(l.name, l.pieces); err != nil && o.lost == nil {
			o.lost = err
		}
	}
}

// write writes output of a node, or keeps it for later. The caller has the lock.
func (o *Output) write(name string, pieces []piece) error {
	switch {
	case o.lost != nil:
		return o.lost
	case len(pieces) == 0:
		return nil
	case o.held > 0:
		o.late = append(o.late, late{name, pieces})
		return nil
	}
	o.last = name
	for i := 0; i < len(pieces); {
		to, text := pieces[i].to, []byte(nil)
		for ; i < len(pieces) && pieces[i].to == to; i++ {
			text = append(text, pieces[i].text...)
		}
		if _, err := to.Write(text); err != nil {
			return fmt.Errorf("its output cannot be written: %w", err)
		}
	}
	return nil
}

// Last returns the name of the node whose output was shown last, "" without one.
func (o *Output) Last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// Headings say before the output of each node whose it is.
type Headings struct {
	Total int // number of nodes
	Style textstyle.Style

	begun int
}

func (h *Headings) next(name string) string {
	h.begun++
	blank := "\n"
	if h.begun == 1 {
		blank = ""
	}
	return blank + h.Style.Bold(name) + h.Style.Dim(fmt.Sprintf("  %d of %d", h.begun, h.Total)) + "\n"
}

// NewOutput returns an output. If it is grouped, the output of a node is shown together at its end,
// or earlier when there is very much of it; otherwise at once, including unfinished lines such as a
// question.
func NewOutput(out, err io.Writer, grouped bool) *Output {
	return &Output{out: out, err: err, grouped: grouped}
}

// NewBoardOutput returns a grouped output that is shown above a board, which shows the nodes that
// are not closed. Of terminal control sequences it keeps colours only. Err is for the standard
// error of nodes; the board if nil.
func NewBoardOutput(board *Board, err io.Writer) *Output {
	if err == nil {
		err = board
	}
	return &Output{out: board, err: err, grouped: true, board: board}
}

// NewTerminalOutput returns an output that leaves the terminal to one node after the other, each
// below a heading.
func NewTerminalOutput(out, err io.Writer, headings Headings) *Output {
	return &Output{out: out, err: err, headings: &headings}
}

// Node returns where a node is to print. It must be closed.
func (o *Output) Node(name string) *NodeOutput {
	name = safetext.Name(name)
	n := &NodeOutput{output: o, name: name}
	if o.headings != nil {
		n.Out, n.Err = o.out, o.err
		n.heading(o.headings)
		return n
	}
	prefix := []byte(name + " | ")
	n.Out = &lines{node: n, to: o.out, prefix: prefix, start: true}
	n.Err = &lines{node: n, to: o.err, prefix: prefix, start: true}
	if o.board != nil {
		n.Out = &wholeLines{lines: n.Out.(*lines)}
		n.Err = &wholeLines{lines: n.Err.(*lines)}
		o.board.start(n)
	}
	return n
}

// NodeOutput is the output of a node.
type NodeOutput struct {
	Out, Err io.Writer

	output *Output
	name   string
	failed error // of writing a heading
	held   struct {
		sync.Mutex
		pieces []piece
		size   int
		lost   error // first error of writing them
	}
}

type piece struct {
	to   io.Writer
	text []byte
}

// heading writes the heading. If that fails, so does everything written after it.
func (n *NodeOutput) heading(headings *Headings) {
	n.output.mu.Lock()
	defer n.output.mu.Unlock()
	n.output.last = n.name
	_, n.failed = io.WriteString(n.output.out, headings.next(n.name))
}

// Phase sets the part of its work that the node does from now on, such as "apply".
func (n *NodeOutput) Phase(phase string) {
	if n.output.board != nil {
		n.output.board.change(n, func(row *live.Row) { row.Phase, row.Activity = phase, "" })
	}
}

// Writers returns Out and Err.
func (n *NodeOutput) Writers() (stdout, stderr io.Writer) { return n.Out, n.Err }

// Close shows the output that is still held back and ends unfinished lines.
//
// Errors: those of writing.
func (n *NodeOutput) Close() error {
	errs := []error{n.failed}
	for _, w := range []io.Writer{n.Out, n.Err} {
		if w, ok := w.(interface{ end() error }); ok {
			errs = append(errs, w.end())
		}
	}
	n.held.Lock()
	defer n.held.Unlock()
	n.flush()
	errs = append(errs, n.held.lost)
	if n.output.board != nil {
		n.output.board.stop(n)
	}
	return errors.Join(errs...)
}

// flush writes the pieces held back, whose lock the caller has. After an error the output is lost,
// and so is all later output: a node is not to be stopped in the middle of its work because its
// output cannot be written.
func (n *NodeOutput) flush() {
	pieces := n.held.pieces
	n.held.pieces, n.held.size = nil, 0
	if n.held.lost != nil {
		return
	}
	n.output.mu.Lock()
	defer n.output.mu.Unlock()
	n.held.lost = n.output.write(n.name, pieces)
}

func (n *NodeOutput) write(p piece) {
	n.held.Lock()
	defer n.held.Unlock()
	n.held.pieces = append(n.held.pieces, p)
	n.held.size += len(p.text)
	if !n.output.grouped || n.held.size >= heldBack {
		n.flush()
	}
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
	l.node.write(piece{l.to, b.Bytes()})
	return len(text), nil
}

// end ends an unfinished line.
func (l *lines) end() error {
	if l.start {
		return nil
	}
	_, err := l.Write([]byte("\n"))
	return err
}

// wholeLines passes on whole lines only, fit for a terminal that has a board, and gives the board
// the last line printed.
type wholeLines struct {
	*lines
	colors colors
	rest   []byte // of a line that has not ended
}

// longestLine is the number of bytes of a line without an end that are passed on as if it had one.
const longestLine = 1 << 16

// Write implements [io.Writer].
func (l *wholeLines) Write(text []byte) (int, error) {
	l.rest = append(l.rest, text...)
	var whole []byte
	last := ""
	for {
		end := bytes.IndexByte(l.rest, '\n')
		if end < 0 && len(l.rest) < longestLine {
			break
		} else if end < 0 {
			end = len(l.rest)
		}
		line := string(l.rest[:end])
		l.rest = l.rest[min(end+1, len(l.rest)):]
		whole = append(append(whole, l.colors.line(line)...), '\n')
		last = cmp.Or(activity(line), last)
	}
	if last = cmp.Or(activity(string(l.rest)), last); last != "" {
		l.node.output.board.change(l.node, func(row *live.Row) { row.Activity = last })
	}
	if len(whole) > 0 {
		if _, err := l.lines.Write(whole); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

// end ends an unfinished line.
func (l *wholeLines) end() error {
	if len(l.rest) == 0 {
		return nil
	}
	_, err := l.Write([]byte("\n"))
	return err
}
