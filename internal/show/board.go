// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"io"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/views/live"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
)

// BoardOptions configure a board.
type BoardOptions struct {
	Title string // of the line over all, such as "Running"
	Total int    // number of nodes
	Style textstyle.Style
	Size  func() live.Size
}

// Board shows the running nodes and their output on a terminal, and counts the others. An [Output]
// with a board tells it which nodes run; the caller reports the end of a node with [Board.Ended].
//
// Text written to it appears above the table; it must consist of whole lines.
type Board struct {
	*live.Display
	style textstyle.Style

	// These are only used within [live.Display.Update] and by the frame.
	table   live.Table // without the rows
	rows    map[*NodeOutput]*live.Row
	elapsed map[string]time.Duration // of nodes that have stopped running, until their end is reported
}

// NewBoard returns a board that is drawn on a terminal, but not before During.
func NewBoard(terminal io.Writer, options BoardOptions) *Board {
	b := &Board{style: options.Style, rows: map[*NodeOutput]*live.Row{}, elapsed: map[string]time.Duration{}}
	b.Display = live.NewDisplay(terminal, live.Options{Size: options.Size, Frame: b.frame})
	b.table = live.Table{Title: options.Title, Started: time.Now(), Counts: live.Counts{Waiting: options.Total}}
	return b
}

func (b *Board) frame(now time.Time, size live.Size) []string {
	table := b.table
	for _, row := range b.rows {
		table.Rows = append(table.Rows, *row)
	}
	table.Counts.Running = len(table.Rows)
	table.Counts.Waiting = max(table.Counts.Waiting-len(table.Rows), 0)
	return table.Lines(now, size, b.style)
}

// Write implements [io.Writer].
func (b *Board) Write(text []byte) (int, error) {
	b.Print(string(text))
	return len(text), b.Err()
}

// start adds a row.
func (b *Board) start(n *NodeOutput) {
	now := time.Now()
	b.Update(func() string {
		b.rows[n] = &live.Row{Name: n.name, Since: now}
		return ""
	})
}

// change changes a row that there may not be any more.
func (b *Board) change(n *NodeOutput, how func(*live.Row)) {
	b.Update(func() string {
		if row := b.rows[n]; row != nil {
			how(row)
		}
		return ""
	})
}

// stop removes a row.
func (b *Board) stop(n *NodeOutput) {
	now := time.Now()
	b.Update(func() string {
		if row := b.rows[n]; row != nil {
			b.elapsed[n.name] += now.Sub(row.Since)
			delete(b.rows, n)
		}
		return ""
	})
}

// Ended counts a node. If it has run, or there is a text about it, it gets a line above: its name,
// the text, and how long it ran if that was long.
func (b *Board) Ended(name string, state order.State, text string) {
	name = safetext.Name(name)
	b.Update(func() string {
		mark := b.count(state)
		elapsed, ran := b.elapsed[name]
		delete(b.elapsed, name)
		if !ran && text == "" {
			return ""
		}
		line := mark + " " + name
		if text != "" {
			line += ": " + oneLine(text)
		}
		if elapsed >= time.Second {
			line += b.style.Dim(" (" + elapsed.Truncate(time.Second).String() + ")")
		}
		return line
	})
}

// Count counts a node without saying more.
func (b *Board) Count(state order.State) {
	b.Update(func() string {
		b.count(state)
		return ""
	})
}

func (b *Board) count(state order.State) (mark string) {
	b.table.Counts.Waiting--
	switch state {
	case order.Failed:
		b.table.Counts.Failed++
		return b.style.Red("✗")
	case order.Skipped:
		b.table.Counts.Skipped++
		return b.style.Yellow("-")
	default:
		b.table.Counts.Done++
		return b.style.Green("✓")
	}
}

// oneLine makes a line of text.
func oneLine(text string) string {
	return safetext.Clean(strings.Join(strings.Fields(text), " "))
}
