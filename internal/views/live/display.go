// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package live

import (
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Size is the size of a terminal in characters.
type Size struct {
	Width, Height int
}

// Options are the sources of a display: its frames and its size.
type Options struct {
	// Frame returns the lines of the display. No line may be wider than the terminal. It is called
	// with the lock of the display held, so that [Display.Update] alone may change its data.
	Frame func(now time.Time, size Size) []string

	// Size returns the size of the terminal. It is asked before every frame.
	Size func() Size
}

// Display is redrawn in place, below printed lines. It is safe for concurrent use.
type Display struct {
	options Options

	mu struct {
		sync.Mutex
		w         io.Writer
		scroll    []string // lines to write above the next frame
		drawn     []string // the frame on the screen
		active    bool
		suspended int // how often
		err       error
	}
}

// frameInterval is the time between frames: smooth for the eye, cheap for a slow connection.
const frameInterval = 100 * time.Millisecond

// NewDisplay returns a display that writes to a terminal. It draws nothing before [Display.During].
func NewDisplay(w io.Writer, options Options) *Display {
	d := &Display{options: options}
	d.mu.w = w
	return d
}

// During shows the display while work runs. When it returns, and also when work
// panics, the display is gone from the screen, the lines above it stay, and the
// cursor is back.
func (d *Display) During(work func()) {
	stop := make(chan struct{})
	var drawing sync.WaitGroup
	d.begin()
	drawing.Go(func() { d.drawUntil(stop) })
	defer func() {
		close(stop)
		drawing.Wait()
		d.Restore()
	}()
	work()
}

func (d *Display) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.active = true
	d.write(ansi.HideCursor)
}

func (d *Display) drawUntil(stop <-chan struct{}) {
	ticker := time.NewTicker(frameInterval)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			d.draw()
		}
	}
}

// Restore takes the display off the screen and shows the cursor again. It is for
// a program that is about to end at once; otherwise [Display.During] does it.
func (d *Display) Restore() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.mu.active {
		return
	}
	d.mu.active, d.mu.suspended = false, 0
	d.write(d.frame(nil) + ansi.ShowCursor)
}

// Suspend takes the display off the screen until resume is called, and shows the cursor, so that
// somebody can be asked something. Lines printed meanwhile appear afterwards. If several suspend
// it, all of them have to resume.
func (d *Display) Suspend() (resume func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.mu.active {
		return func() {}
	}
	if d.mu.suspended == 0 {
		d.write(d.frame(nil) + ansi.ShowCursor)
	}
	d.mu.suspended++
	return sync.OnceFunc(d.resume)
}

func (d *Display) resume() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.suspended == 0 {
		return // it is gone
	}
	d.mu.suspended--
	if d.mu.suspended == 0 {
		d.write(ansi.HideCursor)
	}
}

// Err returns the first error of writing. After it nothing more was written.
func (d *Display) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.err
}

// Print writes lines above the display.
func (d *Display) Print(text string) {
	d.Update(func() string { return text })
}

// Update changes the data of the frame, and writes the lines that change returns above the display,
// if it is not "". Nothing is drawn in between.
func (d *Display) Update(change func() (above string)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	above := change()
	if above == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(above, "\n"), "\n") {
		d.mu.scroll = append(d.mu.scroll, line)
	}
	if !d.mu.active {
		d.write(d.frame(nil))
	}
}

func (d *Display) draw() {
	size := d.options.Size()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.mu.active || d.mu.suspended > 0 {
		return
	}
	lines := d.options.Frame(time.Now(), size)
	if len(d.mu.scroll) == 0 && slices.Equal(lines, d.mu.drawn) {
		return
	}
	d.write(d.frame(lines))
}

// write must be called with the lock held.
func (d *Display) write(text string) {
	if d.mu.err == nil && text != "" {
		_, d.mu.err = io.WriteString(d.mu.w, text)
	}
}

// The marks of a synchronized update: a terminal that knows them shows all
// between them at once, others ignore them.
const (
	beginUpdate = "\x1b[?2026h"
	endUpdate   = "\x1b[?2026l"
)

// frame returns the text that turns the frame on the screen into the given one, below the lines
// that scroll. It must be called with the lock held.
func (d *Display) frame(lines []string) string {
	if len(d.mu.scroll) == 0 && len(d.mu.drawn) == 0 && len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(beginUpdate)
	rows := rowsOf(d.mu.drawn, d.options.Size().Width)
	inPlace := len(d.mu.scroll) == 0 && len(lines) > 0
	switch {
	case !inPlace:
		// Scrolling lines may have tabs, which erase nothing, or be wider than the terminal. Line by
		// line, since some terminals keep lines for scrolling back that are erased as a whole.
		b.WriteString("\r" + ansi.EraseLineRight + strings.Repeat(ansi.CursorUp(1)+ansi.EraseLineRight, rows))
	case rows > 0:
		b.WriteString(ansi.CursorUp(rows))
	}
	for _, line := range d.mu.scroll {
		b.WriteString("\r" + line + "\n")
	}
	for _, line := range lines {
		b.WriteString("\r" + line + ansi.EraseLineRight + "\n")
	}
	if inPlace {
		b.WriteString(ansi.EraseScreenBelow)
	}
	b.WriteString(endUpdate)
	d.mu.scroll, d.mu.drawn = nil, lines
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
