// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/deferral"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// componentRow is the line of a table by component.
type componentRow struct {
	address  string
	counts   stackplan.Counts
	deferred bool // as a whole, so that there is nothing to count
}

// countColumn is a column of such a table. One that is not always there needs something to show.
type countColumn struct {
	planned, done string // headings
	of            func(stackplan.Counts) int
	color         func(textstyle.Style, string) string
	usual         bool // there with 0, too
}

var countColumns = []countColumn{
	{"import", "imported", func(n stackplan.Counts) int { return n.Import }, textstyle.Style.Cyan, false},
	{"add", "added", func(n stackplan.Counts) int { return n.Add }, textstyle.Style.Green, true},
	{"change", "changed", func(n stackplan.Counts) int { return n.Change }, textstyle.Style.Yellow, true},
	{"destroy", "destroyed", func(n stackplan.Counts) int { return n.Remove }, textstyle.Style.Red, true},
	{"move", "moved", func(n stackplan.Counts) int { return n.Move }, textstyle.Style.Cyan, false},
	{"forget", "forgotten", func(n stackplan.Counts) int { return n.Forget }, textstyle.Style.Yellow, false},
	{"invoke", "invoked", func(n stackplan.Counts) int { return n.Invoke }, textstyle.Style.Cyan, false},
	{deferredHeading, deferredHeading, func(n stackplan.Counts) int { return n.Defer }, textstyle.Style.Yellow, false},
}

const deferredHeading = "deferred"

// byComponent writes a table of the changes planned, or made, in each component. With fewer than
// two rows the total suffices. The column of destructions is always there, other usual columns
// unless the operation can only destroy.
func (p *page) byComponent(rows []componentRow, destroy bool, heading func(countColumn) string) {
	if len(rows) < 2 {
		return
	}
	columns := slices.DeleteFunc(slices.Clone(countColumns), func(c countColumn) bool {
		always := c.planned == "destroy" || c.usual && !destroy
		return !always && !slices.ContainsFunc(rows, func(r componentRow) bool {
			return c.of(r.counts) > 0 || c.planned == deferredHeading && r.deferred
		})
	})
	addresses, width := make([]string, len(rows)), 0
	for i, r := range rows {
		addresses[i] = r.address
		width = max(width, ansi.StringWidth(r.address))
	}
	if p.terminal { // in a log, lines may be long
		room := p.columns - len("  ")
		for _, c := range columns {
			room -= len("  ") + len(heading(c))
		}
		const least = 12
		width = min(width, max(room, least))
	}

	p.printf("%*s", len("  ")+width, "")
	for _, c := range columns {
		p.printf("  %s", p.Dim(heading(c)))
	}
	p.printf("\n")
	for i, short := range textstyle.Shorten(addresses, width) {
		p.printf("  %s%s", short, strings.Repeat(" ", width-ansi.StringWidth(short)))
		for _, c := range columns {
			p.printf("  %s", p.cell(rows[i], c, len(heading(c))))
		}
		p.printf("\n")
	}
	p.printf("\n")
}

func (p *page) cell(r componentRow, c countColumn, width int) string {
	switch n := c.of(r.counts); {
	case n > 0:
		return c.color(p.Style, fmt.Sprintf("%*d", width, n))
	case c.planned == deferredHeading && r.deferred:
		return c.color(p.Style, fmt.Sprintf("%*s", width, "all"))
	}
	return p.Dim(fmt.Sprintf("%*s", width, "-"))
}

// byComponent writes the table of planned changes.
func (v *planView) byComponent() {
	v.page.byComponent(plannedRows(v.plan), v.plan.Mode == engine.Destroy, func(c countColumn) string { return c.planned })
}

// plannedRows has the components in which there is something to count.
func plannedRows(plan *stackplan.Plan) []componentRow {
	var rows []componentRow
	for _, c := range plan.Components {
		row := componentRow{address: c.Addr.String(), counts: c.Counts()}
		row.deferred = row.counts.Total() == 0 && deferral.IsDeferred(plan, c)
		if row.deferred || row.counts.Total() > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// doneByComponent writes the table of changes made. For an apply that did not do everything, the
// lists of outcomes take its place.
func (p *page) doneByComponent(components []ComponentResult, destroy bool) {
	var rows []componentRow
	for _, c := range components {
		if row := (componentRow{c.Addr.String(), c.Counts, c.Status == hooks.Deferred && c.Counts.Total() == 0}); row.deferred ||
			row.counts.Total() > 0 {
			rows = append(rows, row)
		}
	}
	p.byComponent(rows, destroy, func(c countColumn) string { return c.done })
}
