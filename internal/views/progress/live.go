// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package progress

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// LiveOptions say how a live display behaves.
type LiveOptions struct {
	Operation string // "plan", "apply" or "destroy"
	Style     textstyle.Style

	// Size tells the size of the terminal. It is asked before every frame.
	Size func() Size

	// Now is the clock; time.Now if nil.
	Now func() time.Time

	// ResourceLines adds a line for each resource that is done, not only for components.
	ResourceLines bool
}

// Live is a display that is redrawn in place. It is safe for concurrent use.
type Live struct {
	options LiveOptions

	mu struct {
		sync.Mutex
		w        io.Writer
		model    Model
		outcomes map[string]string
		scroll   []string // lines to write above the next frame
		drawn    []string // the frame on the screen
		active   bool
		err      error
	}
}

// frameInterval is the time between frames: smooth for the eye, cheap for a slow connection.
const frameInterval = 100 * time.Millisecond

// NewLive returns a display that writes to a terminal. It draws nothing before [Live.During].
func NewLive(w io.Writer, options LiveOptions) *Live {
	if options.Now == nil {
		options.Now = time.Now
	}
	l := &Live{options: options}
	l.mu.w = w
	l.mu.outcomes = map[string]string{}
	l.mu.model = Model{Operation: options.Operation, Started: options.Now(), Components: map[string]*Component{}}
	return l
}

// During shows the display while work runs. When it returns, and also when work
// panics, the display is gone from the screen, the lines above it stay, and the
// cursor is back.
func (l *Live) During(work func()) {
	stop := make(chan struct{})
	var drawing sync.WaitGroup
	l.begin()
	drawing.Go(func() { l.drawUntil(stop) })
	defer func() {
		close(stop)
		drawing.Wait()
		l.Restore()
	}()
	work()
}

func (l *Live) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.active = true
	l.write(ansi.HideCursor)
}

func (l *Live) drawUntil(stop <-chan struct{}) {
	ticker := time.NewTicker(frameInterval)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			l.draw()
		}
	}
}

// Restore takes the display off the screen and shows the cursor again. It is for
// a program that is about to end at once; otherwise [Live.During] does it.
func (l *Live) Restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.mu.active {
		return
	}
	l.mu.active = false
	l.write(l.frame(nil) + ansi.ShowCursor)
}

// Err returns the first error of writing. After it nothing more was written.
func (l *Live) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.err
}

// Print writes lines above the display.
func (l *Live) Print(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.print(text)
}

// print must be called with the lock held.
func (l *Live) print(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		l.mu.scroll = append(l.mu.scroll, line)
	}
	if !l.mu.active {
		l.write(l.frame(nil))
	}
}

func (l *Live) draw() {
	size := l.options.Size()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.mu.active {
		return
	}
	lines := l.mu.model.Frame(l.options.Now(), size, l.options.Style)
	if len(l.mu.scroll) == 0 && slices.Equal(lines, l.mu.drawn) {
		return
	}
	l.write(l.frame(lines))
}

// write must be called with the lock held.
func (l *Live) write(text string) {
	if l.mu.err == nil && text != "" {
		_, l.mu.err = io.WriteString(l.mu.w, text)
	}
}

// The marks of a synchronized update: a terminal that knows them shows all
// between them at once, others ignore them.
const (
	beginUpdate = "\x1b[?2026h"
	endUpdate   = "\x1b[?2026l"
)

// frame returns what turns the frame on the screen into the given one, below the
// lines that scroll. It must be called with the lock held.
func (l *Live) frame(lines []string) string {
	if len(l.mu.scroll) == 0 && len(l.mu.drawn) == 0 && len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(beginUpdate)
	if rows := rowsOf(l.mu.drawn, l.options.Size().Width); rows > 0 {
		b.WriteString(ansi.CursorUp(rows))
	}
	for _, line := range slices.Concat(l.mu.scroll, lines) {
		b.WriteString("\r" + line + ansi.EraseLineRight + "\n")
	}
	b.WriteString(ansi.EraseScreenBelow + endUpdate)
	l.mu.scroll, l.mu.drawn = nil, lines
	return b.String()
}

// rowsOf returns how many rows lines take on a terminal, which may have become
// narrower since they were written.
func rowsOf(lines []string, width int) int {
	rows := 0
	width = max(width, 1)
	for _, line := range lines {
		rows += max(1, (ansi.StringWidth(line)+width-1)/width)
	}
	return rows
}

// Hooks returns the hooks to watch an operation with.
func (l *Live) Hooks() hooks.Hooks {
	return hooks.Hooks{
		ComponentExpanded: func(_ stackaddrs.AbsComponent, instances []stackaddrs.AbsComponentInstance) {
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, addr := range instances {
				l.mu.model.component(addr.String())
			}
		},
		ComponentStatus: l.status,
		ComponentEvent:  l.event,
		ComponentPlanned: func(plan *stackplan.Component) {
			l.setOutcome(plan.Addr.String(), plannedText(plan))
		},
		ComponentApplied: func(component stackaddrs.AbsComponentInstance, counts stackplan.Counts) {
			l.setOutcome(component.String(), appliedText(l.options.Operation, counts))
		},
	}
}

func (l *Live) setOutcome(addr, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.outcomes[addr] = text
}

func (l *Live) status(component stackaddrs.AbsComponentInstance, status hooks.Status) {
	addr, now := component.String(), l.options.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.mu.model.component(addr)
	began := c.Since
	c.Status = status
	if c.running() {
		c.Since, c.Current = now, ""
		return
	}
	if line := l.statusLine(addr, status); line != "" {
		if !began.IsZero() && now.Sub(began) >= time.Second {
			line += l.options.Style.Dim(" (" + elapsed(now, began) + ")")
		}
		l.print(line)
	}
}

// statusLine is the line for a component that does not run any more, or "". It
// must be called with the lock held.
func (l *Live) statusLine(addr string, status hooks.Status) string {
	style := l.options.Style
	text := addr + ": " + eventtext.Status(status)
	switch status {
	case hooks.Planned, hooks.Applied:
		if status == hooks.Planned && l.options.Operation != "plan" {
			return ""
		}
		if outcome := l.mu.outcomes[addr]; outcome != "" {
			text += ": " + outcome
		}
		delete(l.mu.outcomes, addr)
		return style.Green("✓") + " " + text
	case hooks.Failed:
		return style.Red("✗") + " " + text
	case hooks.Deferred, hooks.Skipped:
		return style.Yellow("-") + " " + text
	}
	return ""
}

func (l *Live) event(component stackaddrs.AbsComponentInstance, event engine.Event) {
	message := eventtext.Message(event)
	first, _, _ := strings.Cut(message, "\n")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.model.component(component.String()).Current = first
	switch event.Type {
	case engine.ApplyErrored, engine.ProvisionErrored:
		l.print(fmt.Sprintf("%s %s: %s", l.options.Style.Red("✗"), component, message))
	case engine.ApplyComplete, engine.ProvisionProgress:
		if l.options.ResourceLines {
			l.print(fmt.Sprintf("  %s: %s", component, message))
		}
	}
}
