// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package timeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/show/picture"
)

// Sizes in the picture.
const (
	letterWidth  = 8 // of the font at its size, rounded up
	mostLetters  = 44
	rowHeight    = 26
	partHeight   = 18 // of component instances below a row
	barMargin    = 4
	leastBar     = 2 // so that short steps are seen
	timeWidth    = 900
	border       = 20
	axisHeight   = 34
	legendHeight = 34
	legendWidth  = 110
	mostTicks    = 10
	mostParts    = 2000 // component instances up to which they are drawn
)

const style = `
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1f2328}
.paper{fill:#fff}
.band{fill:#f6f8fa}
.tick{stroke:#818b98;stroke-opacity:.35}
.time{fill:#59636e;text-anchor:middle}
.part{font-size:11px;fill:#59636e}
.bar{stroke-width:1;fill:#ddf4ff;stroke:#0969da}
.bar.apply{fill:#dafbe1;stroke:#1a7f37}
.bar.run{fill:#fbefff;stroke:#8250df}
.bar.failed{fill:#ffebe9;stroke:#cf222e}
.bar.critical{stroke:#bc4c00;stroke-width:2.5}
.path{fill:none;stroke:#bc4c00;stroke-width:1.3;stroke-dasharray:3 3}
@media(prefers-color-scheme:dark){
text{fill:#e6edf3}
.paper{fill:#0d1117}
.band{fill:#151b23}
.tick{stroke:#7d8590}
.time,.part{fill:#9198a1}
.bar{fill:#0f2540;stroke:#4493f8}
.bar.apply{fill:#0f2a18;stroke:#3fb950}
.bar.run{fill:#271b3d;stroke:#a371f7}
.bar.failed{fill:#3a1519;stroke:#f85149}
.bar.critical,.path{stroke:#db6d28}
}
`

// SVG draws the rows along the time, each with the component instances that were worked on below
// it, and the critical path. Pointing at a bar shows its times.
func (t Timeline) SVG() string {
	begin, end := t.bounds()
	d := &drawing{Timeline: t, begin: begin, took: max(end.Sub(begin), time.Millisecond), critical: t.criticalSteps()}
	parts := 0
	for _, row := range t.Rows {
		names := row.components()
		parts += len(names)
		for _, name := range append(names, row.Name) {
			d.labels = max(d.labels, ansi.StringWidth(label(name))*letterWidth+2*border)
		}
	}
	d.parts = parts <= mostParts
	height := 0
	for _, row := range t.Rows {
		d.tops = append(d.tops, height)
		height += rowHeight
		if d.parts {
			height += len(row.components()) * partHeight
		}
	}
	width, whole := d.labels+timeWidth+2*border, height+axisHeight+legendHeight+2*border
	path := t.CriticalPath()
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", width, whole)
	d.printf("<title>%s</title>\n", picture.Escape("Critical path: "+path.Text()))
	d.printf("<style>%s</style>\n", style)
	d.printf(`<rect class="paper" width="%d" height="%d"/>`+"\n", width, whole)
	d.printf(`<g transform="translate(%d %d)">`+"\n", border, border+axisHeight)
	d.rows(width - 2*border)
	d.axis(height)
	d.path()
	d.printf("</g>\n")
	d.legend(whole - border)
	d.printf("</svg>\n")
	return d.String()
}

type drawing struct {
	strings.Builder
	Timeline
	begin    time.Time
	took     time.Duration
	critical []at
	labels   int   // width of the names
	tops     []int // of rows
	parts    bool  // component instances are drawn
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.Builder, format, args...) }

func label(name string) string { return ansi.Truncate(safetext.Name(name), mostLetters, "…") }

// components returns the names of the component instances of a row, in the order of their work.
func (r Row) components() []string {
	var names []string
	for _, step := range r.Steps {
		for _, work := range step.Components {
			if !slices.Contains(names, work.Component) {
				names = append(names, work.Component)
			}
		}
	}
	return names
}

// x returns the place of a moment.
func (d *drawing) x(moment time.Time) float64 {
	return float64(d.labels) + float64(moment.Sub(d.begin))/float64(d.took)*timeWidth
}

func (d *drawing) rows(width int) {
	for r, row := range d.Rows {
		top := d.tops[r]
		if r%2 == 0 {
			d.printf(`<rect class="band" y="%d" width="%d" height="%d"/>`+"\n", top, width, d.bottom(r)-top)
		}
		d.printf(`<text x="4" y="%d">%s</text>`+"\n", top+rowHeight-9, picture.Escape(label(row.Name)))
		for s, step := range row.Steps {
			class := step.Phase
			if row.State == "failed" && s == len(row.Steps)-1 {
				class += " failed"
			}
			if slices.Contains(d.critical, at{r, s}) {
				class += " critical"
			}
			d.bar(class, top, rowHeight, step.Started, step.Ended(), step.Phase+" "+row.Name)
		}
		if !d.parts {
			continue
		}
		for i, name := range row.components() {
			partTop := top + rowHeight + i*partHeight
			d.printf(`<text class="part" x="20" y="%d">%s</text>`+"\n", partTop+partHeight-6, picture.Escape(label(name)))
			d.works(row, name, partTop)
		}
	}
}

// works draws the work on a component instance.
func (d *drawing) works(row Row, component string, top int) {
	for _, step := range row.Steps {
		for _, work := range step.Components {
			if work.Component != component {
				continue
			}
			class := work.Kind
			if work.Failed {
				class += " failed"
			}
			d.bar(class, top, partHeight, work.Started, work.Ended(), work.Kind+" "+component)
		}
	}
}

// bottom is where a row ends.
func (d *drawing) bottom(row int) int {
	if row+1 < len(d.tops) {
		return d.tops[row+1]
	}
	bottom := d.tops[row] + rowHeight
	if d.parts {
		bottom += len(d.Rows[row].components()) * partHeight
	}
	return bottom
}

func (d *drawing) bar(class string, top, height int, begin, end time.Time, text string) {
	x := d.x(begin)
	d.printf(`<rect class="bar %s" x="%.1f" y="%d" width="%.1f" height="%d" rx="3"><title>%s</title></rect>`+"\n",
		picture.Escape(class), x, top+barMargin, max(d.x(end)-x, leastBar), height-2*barMargin,
		picture.Escape(fmt.Sprintf("%s\n%s, from %s on", safetext.Name(text), fine(end.Sub(begin)), fine(begin.Sub(d.begin)))))
}

// fine writes a time with three digits or so.
func fine(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// steps are distances between ticks that people count in.
var steps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second,
	15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// axis writes the time above the rows, and draws lines through them.
func (d *drawing) axis(height int) {
	i := slices.IndexFunc(steps, func(step time.Duration) bool { return d.took/step < mostTicks })
	step := d.took / mostTicks
	if i >= 0 {
		step = steps[i]
	}
	for passed := time.Duration(0); passed <= d.took; passed += step {
		x := d.x(d.begin.Add(passed))
		d.printf(`<path class="tick" d="M%.1f -6V%d"/><text class="time" x="%[1]g" y="-12">%[3]s</text>`+"\n", math.Round(x), height, passed)
	}
}

// path connects the steps of the critical path.
func (d *drawing) path() {
	for i := 1; i < len(d.critical); i++ {
		from, to := d.critical[i-1], d.critical[i]
		if from.row == to.row {
			continue
		}
		middle := func(place at) int { return d.tops[place.row] + rowHeight/2 }
		d.printf(`<path class="path" d="M%.1f %dL%.1f %d"/>`+"\n",
			d.x(d.step(from).Ended()), middle(from), d.x(d.step(to).Started), middle(to))
	}
}

func (d *drawing) legend(bottom int) {
	for i, entry := range []struct{ class, text string }{
		{"plan", "plan"}, {"apply", "apply"}, {"run", "task"}, {"failed", "failed"}, {"critical", "critical path"},
	} {
		x := border + i*legendWidth
		d.printf(`<rect class="bar %s" x="%d" y="%d" width="16" height="14" rx="3"/><text x="%d" y="%d">%s</text>`+"\n",
			entry.class, x, bottom-13, x+22, bottom-2, entry.text)
	}
}
