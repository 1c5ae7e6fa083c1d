// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
)

// Model is what is known of a running operation.
type Model struct {
	Operation  string // "plan", "apply" or "destroy"
	Started    time.Time
	Components map[string]*Component // by address
}

// Component is what is known of a component instance.
type Component struct {
	Status  hooks.Status
	Since   time.Time // when it began to run
	Current string    // what it does, as the engine last told
}

// Size is the size of a terminal in characters.
type Size struct {
	Width, Height int
}

func (m *Model) component(addr string) *Component {
	c := m.Components[addr]
	if c == nil {
		c = &Component{Status: hooks.Pending}
		m.Components[addr] = c
	}
	return c
}

func (c *Component) running() bool {
	return c.Status == hooks.Planning || c.Status == hooks.Applying
}

// tally counts the components by what a person wants to know of them.
type tally struct {
	total, done, running, waiting, failed, skipped, deferred int
}

func (m *Model) tally() tally {
	t := tally{total: len(m.Components)}
	for _, c := range m.Components {
		switch {
		case c.running():
			t.running++
		case c.Status == hooks.Failed:
			t.failed++
		case c.Status == hooks.Skipped:
			t.skipped++
		case c.Status == hooks.Deferred:
			t.deferred++
		case c.Status == hooks.Applied, c.Status == hooks.Planned && m.Operation == "plan":
			t.done++
		default:
			t.waiting++
		}
	}
	return t
}

func (t tally) finished() int { return t.done + t.failed + t.skipped + t.deferred }

// Frame returns the lines of the display: what runs, the longest first, and a
// bar over all. No line is wider than the terminal, and at least half of the
// terminal's height is left to what has scrolled away.
func (m *Model) Frame(now time.Time, size Size, style textstyle.Style) []string {
	if size.Width < 4 || size.Height < 2 {
		return nil
	}
	lines := m.runningLines(now, size, style)
	lines = append(lines, m.bar(now, size.Width, style))
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, size.Width-1, "…")
	}
	return lines
}

type runningComponent struct {
	addr string
	*Component
}

func (m *Model) running() []runningComponent {
	var list []runningComponent
	for addr, c := range m.Components {
		if c.running() {
			list = append(list, runningComponent{addr, c})
		}
	}
	slices.SortFunc(list, func(a, b runningComponent) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.addr, b.addr))
	})
	return list
}

func (m *Model) runningLines(now time.Time, size Size, style textstyle.Style) []string {
	list := m.running()
	room := max(size.Height/2-1, 0)
	hidden := 0
	if len(list) > room {
		shown := max(room-1, 0)
		hidden = len(list) - shown
		list = list[:shown]
	}
	width := 0
	for _, c := range list {
		width = max(width, ansi.StringWidth(c.addr))
	}
	width = min(width, size.Width/2)
	var lines []string
	for _, c := range list {
		addr := ansi.Truncate(c.addr, width, "…")
		addr += strings.Repeat(" ", width-ansi.StringWidth(addr))
		lines = append(lines, fmt.Sprintf("  %s %6s  %s", style.Bold(addr), elapsed(now, c.Since), style.Dim(c.activity())))
	}
	if hidden > 0 && room > 0 {
		lines = append(lines, style.Dim(fmt.Sprintf("  … and %d more running", hidden)))
	}
	return lines
}

func (c *Component) activity() string {
	if c.Current != "" {
		return c.Current
	}
	return eventtext.Status(c.Status)
}

func elapsed(now, since time.Time) string {
	return max(now.Sub(since), 0).Truncate(time.Second).String()
}

var operationTitles = map[string]string{"plan": "Planning", "apply": "Applying", "destroy": "Destroying"}

const maxBarWidth = 40

// bar is the line over all components.
func (m *Model) bar(now time.Time, width int, style textstyle.Style) string {
	t := m.tally()
	title := operationTitles[m.Operation]
	if title == "" {
		title = m.Operation
	}
	numbers := fmt.Sprintf("%d/%d", t.finished(), t.total)
	parts := []string{}
	add := func(n int, word string, color func(string) string) {
		if n > 0 {
			parts = append(parts, color(fmt.Sprintf("%d %s", n, word)))
		}
	}
	plain := func(text string) string { return text }
	add(t.running, "running", plain)
	add(t.waiting, "waiting", style.Dim)
	add(t.deferred, "deferred", style.Yellow)
	add(t.skipped, "skipped", style.Yellow)
	add(t.failed, "failed", style.Red)
	parts = append(parts, elapsed(now, m.Started))
	text := numbers + " · " + strings.Join(parts, " · ")

	room := min(width-1-ansi.StringWidth(title)-ansi.StringWidth(text)-2, maxBarWidth)
	if room < 5 {
		return style.Bold(title) + " " + text
	}
	return style.Bold(title) + " " + barOf(t, room, style) + " " + text
}

// barOf draws how much is finished, with failures at the end of it.
func barOf(t tally, width int, style textstyle.Style) string {
	finished, failed := 0, 0
	if t.total > 0 {
		finished = t.finished() * width / t.total
		failed = (t.failed + t.skipped) * width / t.total
		if t.failed > 0 {
			failed = min(max(failed, 1), max(finished, 1))
			finished = max(finished, failed)
		}
	}
	return style.Green(strings.Repeat("█", finished-failed)) + style.Red(strings.Repeat("█", failed)) +
		style.Dim(strings.Repeat("░", width-finished))
}
