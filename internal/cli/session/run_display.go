// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"errors"
	"io"
	"syscall"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/views/live"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
)

// RunDisplay shows a run of many nodes while it lasts.
type RunDisplay struct {
	session *Session
	Output  *show.Output // where the nodes print
	board   *show.Board  // running nodes and overall progress; nil if they are not shown
}

// RunDisplayOptions describe a run to its display.
type RunDisplayOptions struct {
	Title    string // such as "Running"
	Total    int    // number of nodes
	Parallel bool   // several may run at the same time
	Terminal bool   // nodes may ask something on the terminal, one at a time

	// Unread is called when it turns out that nobody reads the output any more, at each piece of it.
	// Nil if that does not matter.
	Unread func()
}

// NewRunDisplay returns a display. On a terminal it has a board, unless nodes are to have the
// terminal for themselves. Elsewhere each line appears with the name of its node: that of a single
// node at once, those of several at the end of each if they run at the same time.
func (s *Session) NewRunDisplay(o RunDisplayOptions) *RunDisplay {
	d := &RunDisplay{session: s}
	style := textstyle.Style{Color: s.ViewOptions(s.Streams.Out).Color}
	switch {
	case !s.CanRedraw():
		d.Output = show.NewOutput(&watchedOutput{s.Streams.Out, o.Unread}, &watchedOutput{s.Streams.Err, o.Unread}, o.Parallel && o.Total > 1)
	case o.Terminal:
		d.Output = show.NewTerminalOutput(s.Streams.Out, s.Streams.Err, show.Headings{Total: o.Total, Style: style})
	default:
		d.board = show.NewBoard(s.Streams.Out, show.BoardOptions{
			Title: o.Title, Total: o.Total, Style: style,
			Size: func() live.Size { return TerminalSize(s.Streams.Out) },
		})
		errors := s.Streams.Err
		if IsTerminal(errors) {
			errors = nil
		}
		d.Output = show.NewBoardOutput(d.board, errors)
	}
	return d
}

// watchedOutput notices that nobody reads the output.
type watchedOutput struct {
	to     io.Writer
	unread func()
}

// Write implements [io.Writer].
func (w *watchedOutput) Write(text []byte) (int, error) {
	n, err := w.to.Write(text)
	if w.unread != nil && errors.Is(err, syscall.EPIPE) {
		w.unread()
	}
	return n, err
}

// During shows the display while work runs.
func (d *RunDisplay) During(work func()) {
	if d.board == nil {
		work()
		return
	}
	d.session.ShowLive(d.board.Display, work)
}

// Ended takes notice of how a node has ended.
func (d *RunDisplay) Ended(name string, result order.Result) {
	text := ""
	if result.State == order.Failed {
		text = result.Err.Error()
	}
	d.EndedAs(name, result.State, text)
}

// EndedAs takes notice of how a node has ended, with a text about it.
func (d *RunDisplay) EndedAs(name string, state order.State, text string) {
	if d.board != nil {
		d.board.Ended(name, state, text)
	}
}

// Count takes notice of the end of something that says itself how it has ended.
func (d *RunDisplay) Count(state order.State) {
	if d.board != nil {
		d.board.Count(state)
	}
}
