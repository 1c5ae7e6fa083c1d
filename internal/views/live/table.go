// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/views/textstyle"
)

// Table shows the running work, and the progress of the whole.
type Table struct {
	Title   string // of the line over all, such as "Applying"
	Started time.Time
	Rows    []Row // running work, in any order
	Counts  Counts
}

// Row is something that runs.
type Row struct {
	Name     string
	Phase    string // which part of the work it is, if it has parts
	Since    time.Time
	Activity string // one line
}

// Counts say how many of all are in which state.
type Counts struct {
	Done, Running, Waiting, Deferred, Skipped, Failed int
}

func (c Counts) total() int    { return c.finished() + c.Running + c.Waiting }
func (c Counts) finished() int { return c.Done + c.Deferred + c.Skipped + c.Failed }

// Lines returns the rows, the longest running first, and a bar over all. No line is wider than the
// terminal, and at least half of the terminal's height is left to lines that have scrolled away.
func (t Table) Lines(now time.Time, size Size, style textstyle.Style) []string {
	if size.Width < 4 || size.Height < 2 {
		return nil
	}
	lines := append(t.rows(now, size, style), t.bar(now, size.Width, style))
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, size.Width-1, "…")
	}
	return lines
}

func (t Table) rows(now time.Time, size Size, style textstyle.Style) []string {
	rows := slices.SortedFunc(slices.Values(t.Rows), func(a, b Row) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Name, b.Name))
	})
	room := max(size.Height/2-1, 0)
	hidden := 0
	if len(rows) > room {
		shown := max(room-1, 0)
		hidden = len(rows) - shown
		rows = rows[:shown]
	}
	names, name, phase := make([]string, len(rows)), 0, 0
	for i, r := range rows {
		names[i] = r.Name
		name = max(name, ansi.StringWidth(r.Name))
		phase = max(phase, ansi.StringWidth(r.Phase))
	}
	name = min(name, size.Width/2)
	var lines []string
	for i, short := range textstyle.Shorten(names, name) {
		r := rows[i]
		line := "  " + style.Bold(fill(short, name)) + " "
		if phase > 0 {
			line += fill(r.Phase, phase) + " "
		}
		line += fmt.Sprintf("%6s  ", Elapsed(now, r.Since))
		lines = append(lines, line+style.Dim(fitActivity(r.Activity, size.Width-1-ansi.StringWidth(line))))
	}
	if hidden > 0 && room > 0 {
		lines = append(lines, style.Dim(fmt.Sprintf("  … and %d more running", hidden)))
	}
	return lines
}

// fill makes text as wide as a column.
func fill(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}

// fitActivity shortens an activity. In "ADDRESS: ACTIVITY" it shortens the address, as long as
// enough of it is left.
func fitActivity(text string, width int) string {
	const enough = 12
	address, what, ok := strings.Cut(text, ": ")
	room := width - ansi.StringWidth(": "+what)
	switch {
	case ansi.StringWidth(text) <= width:
		return text
	case ok && room >= enough:
		return textstyle.Shorten([]string{address}, room)[0] + ": " + what
	case ok && ansi.StringWidth(address) > width:
		return textstyle.Shorten([]string{address}, width)[0]
	}
	return ansi.Truncate(text, max(width, 0), "…")
}

// Elapsed is the time since something began, in seconds.
func Elapsed(now, since time.Time) string {
	return max(now.Sub(since), 0).Truncate(time.Second).String()
}

const maxBarWidth = 40

// bar is the line over all.
func (t Table) bar(now time.Time, width int, style textstyle.Style) string {
	parts := []string{}
	add := func(n int, word string, color func(string) string) {
		if n > 0 {
			parts = append(parts, color(fmt.Sprintf("%d %s", n, word)))
		}
	}
	plain := func(text string) string { return text }
	add(t.Counts.Running, "running", plain)
	add(t.Counts.Waiting, "waiting", style.Dim)
	add(t.Counts.Deferred, "deferred", style.Yellow)
	add(t.Counts.Skipped, "skipped", style.Yellow)
	add(t.Counts.Failed, "failed", style.Red)
	parts = append(parts, Elapsed(now, t.Started))
	text := fmt.Sprintf("%d/%d · ", t.Counts.finished(), t.Counts.total()) + strings.Join(parts, " · ")

	room := min(width-1-ansi.StringWidth(t.Title)-ansi.StringWidth(text)-2, maxBarWidth)
	if room < 5 {
		return style.Bold(t.Title) + " " + text
	}
	return style.Bold(t.Title) + " " + t.Counts.bar(room, style) + " " + text
}

// bar draws how much is finished, with failures at the end of it.
func (c Counts) bar(width int, style textstyle.Style) string {
	finished, failed := 0, 0
	if total := c.total(); total > 0 {
		finished = c.finished() * width / total
		failed = (c.Failed + c.Skipped) * width / total
		if c.Failed > 0 {
			failed = min(max(failed, 1), max(finished, 1))
			finished = max(finished, failed)
		}
	}
	return style.Green(strings.Repeat("█", finished-failed)) + style.Red(strings.Repeat("█", failed)) +
		style.Dim(strings.Repeat("░", width-finished))
}
