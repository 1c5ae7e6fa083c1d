// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/views/live"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
)

// runDisplay is how a run of many nodes is shown while it lasts.
type runDisplay struct {
	session *session
	output  *show.Output // where the nodes print
	board   *show.Board  // what runs, and how far all is; nil if that is not shown
}

// runDisplayOptions say what is run.
type runDisplayOptions struct {
	title    string // such as "Running"
	total    int    // number of nodes
	parallel bool   // several may run at the same time
	terminal bool   // what runs may ask something on the terminal, one at a time
}

// newRunDisplay returns a display. On a terminal it has a board, unless what runs is to have the terminal for itself. Elsewhere each
// line appears with the name of its node.
func (s *session) newRunDisplay(o runDisplayOptions) *runDisplay {
	d := &runDisplay{session: s}
	style := textstyle.Style{Color: s.viewOptions(s.streams.Out).Color}
	switch {
	case !s.canRedraw():
		d.output = show.NewOutput(s.streams.Out, s.streams.Err, o.parallel)
	case o.terminal:
		d.output = show.NewTerminalOutput(s.streams.Out, s.streams.Err, show.Headings{Total: o.total, Style: style})
	default:
		d.board = show.NewBoard(s.streams.Out, show.BoardOptions{
			Title: o.title, Total: o.total, Style: style,
			Size: func() live.Size { return terminalSize(s.streams.Out) },
		})
		errors := s.streams.Err
		if isTerminal(errors) {
			errors = nil
		}
		d.output = show.NewBoardOutput(d.board, errors)
	}
	return d
}

// during shows the display while work runs.
func (d *runDisplay) during(work func()) {
	if d.board == nil {
		work()
		return
	}
	d.session.showLive(d.board.Display, work)
}

// ended takes notice of how a node has ended.
func (d *runDisplay) ended(name string, result order.Result) {
	text := ""
	if result.State == order.Failed {
		text = result.Err.Error()
	}
	d.endedAs(name, result.State, text)
}

// endedAs takes notice of how a node has ended, with a text about it.
func (d *runDisplay) endedAs(name string, state order.State, text string) {
	if d.board != nil {
		d.board.Ended(name, state, text)
	}
}

// count takes notice of the end of something that says itself how it has ended.
func (d *runDisplay) count(state order.State) {
	if d.board != nil {
		d.board.Count(state)
	}
}
