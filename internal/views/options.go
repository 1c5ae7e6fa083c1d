// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/views/textstyle"
)

// Options say how text for people is written. The zero value is plain text of
// the usual width.
type Options struct {
	Color bool
	Width int // columns of the terminal; 78 if zero

	// Reported are shown next to a plan: checks that they are about are not listed once more.
	Reported hcl.Diagnostics

	// Concise leaves out lines for unchanged objects.
	Concise bool

	// CompactWarnings reduces warnings to their summaries and places, where there are no errors.
	CompactWarnings bool
}

const defaultWidth = 78

func (o Options) width() int {
	if o.Width <= 0 {
		return defaultWidth
	}
	return o.Width
}

func (o Options) style() textstyle.Style { return textstyle.Style{Color: o.Color} }

// page collects text before it is written at once.
type page struct {
	strings.Builder
	textstyle.Style
	columns  int
	terminal bool // there is a width that nothing should exceed
	concise  bool
	reported hcl.Diagnostics
}

func newPage(o Options) *page {
	return &page{Style: o.style(), columns: o.width(), terminal: o.Width > 0, concise: o.Concise, reported: o.Reported}
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

// paragraph writes wrapped text and an empty line.
func (p *page) paragraph(text string) {
	for _, line := range textstyle.Wrap(text, p.columns) {
		p.printf("%s\n", line)
	}
	p.printf("\n")
}

// total writes a line that scripts look for, so that it is wrapped on terminals only, and an empty
// line.
func (p *page) total(text string) {
	if p.terminal {
		text = textstyle.Fold(text, p.columns)
	}
	p.printf("%s\n\n", text)
}

// fitted breaks text into lines of at most width columns on terminals, and leaves it one line
// elsewhere.
func (p *page) fitted(text string, width int) []string {
	if !p.terminal {
		return []string{text}
	}
	return textstyle.Wrap(text, width)
}

// item writes one of a list. Text that does not fit on its line follows below, further to the
// right.
func (p *page) item(text string) {
	const indent = "  "
	p.printf("%s%s\n", indent, strings.Join(p.fitted(text, p.columns-2*len(indent)), "\n"+indent+indent))
}

// comment writes a comment on the following text.
func (p *page) comment(text string) {
	const start = "  # "
	p.printf("%s%s\n", start, strings.Join(p.fitted(text, p.columns-len(start)), "\n"+start))
}

// header writes parts of a line and an empty line. On a terminal, a part for which there is no room
// goes below.
func (p *page) header(parts ...string) {
	const indent, gap = "  ", "  "
	column := 0
	for i, part := range parts {
		width := ansi.StringWidth(part)
		switch {
		case i == 0:
		case p.terminal && column+len(gap)+width > p.columns:
			p.printf("\n%s", indent)
			column = len(indent)
		default:
			p.printf("%s", gap)
			column += len(gap)
		}
		p.printf("%s", strings.Join(p.fitted(part, p.columns-len(indent)), "\n"+indent))
		column += width
	}
	p.printf("\n\n")
}

// section writes a bold heading and an empty line.
func (p *page) section(title string) { p.printf("%s\n\n", p.Bold(title)) }

// writeTo writes the collected text, with one line end at its end.
func (p *page) writeTo(w io.Writer) error {
	text := strings.TrimRight(p.String(), "\n")
	if text == "" {
		return nil
	}
	_, err := io.WriteString(w, text+"\n")
	return err
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
