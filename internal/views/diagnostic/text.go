// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostic

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/views/textstyle"
)

// Options say how diagnostics are written. Width is in columns; 78 if zero.
type Options struct {
	Style textstyle.Style
	Width int
}

// Write writes diagnostics for a person, each in a box that is open to the right.
func Write(w io.Writer, list []Diagnostic, options Options) error {
	if options.Width <= 0 {
		options.Width = 78
	}
	var b strings.Builder
	for i, d := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		box{&b, options, options.color(d)}.write(d)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (o Options) color(d Diagnostic) func(string) string {
	if d.Severity == "warning" {
		return o.Style.Yellow
	}
	return o.Style.Red
}

// box writes one diagnostic. Its colour is that of the severity.
type box struct {
	*strings.Builder
	Options
	color func(string) string
}

func (b box) write(d Diagnostic) {
	b.WriteString(b.color("╷") + "\n")
	title := "Error: "
	if d.Severity == "warning" {
		title = "Warning: "
	}
	code := ""
	if d.Code != "" {
		code = " (" + d.Code + ")"
	}
	b.line(b.Style.Bold(b.color(title)) + b.Style.Bold(d.Summary) + code)
	b.place(d)
	if d.Detail != "" {
		b.line("")
		for _, line := range textstyle.Wrap(d.Detail, b.Width-2) {
			b.line(line)
		}
	}
	b.WriteString(b.color("╵") + "\n")
}

// line writes a line of the box.
func (b box) line(text string) {
	b.WriteString(b.color("│"))
	if text != "" {
		b.WriteString(" " + text)
	}
	b.WriteByte('\n')
}

// place says where in the source the cause is.
func (b box) place(d Diagnostic) {
	if d.Range == nil {
		if with := d.with(); with != "" {
			b.line("")
			b.line("  with " + with)
		}
		return
	}
	b.line("")
	where := "  on " + d.where()
	if d.Range.Start == (Pos{}) { // of the file as a whole
		b.line(where)
		return
	}
	if with := d.with(); with != "" {
		b.line("  with " + with + ",")
	}
	if d.Snippet == nil {
		b.line(where + ":")
		text := "  (source code not available)"
		if d.Hidden {
			text = "  (not shown, because it may hold secrets)"
		}
		b.line(b.Style.Dim(text))
		return
	}
	if d.Snippet.Context != nil {
		where += ", in " + *d.Snippet.Context
	}
	b.line(where + ":")
	b.code(d.Snippet)
	b.values(d.Snippet)
}

// where names the place. What has a code is for programs, too, and gets the form that editors know.
func (d Diagnostic) where() string {
	name, at := textstyle.Name(d.Range.Filename), d.Range.Start
	switch {
	case at == Pos{}:
		return name
	case d.Code != "":
		return fmt.Sprintf("%s:%d:%d", name, at.Line, at.Column)
	default:
		return fmt.Sprintf("%s line %d", name, at.Line)
	}
}

// with names what a diagnostic is about, or is "".
func (d Diagnostic) with() string {
	switch {
	case d.Resource == "":
		return d.Address
	case d.Address == "":
		return d.Resource
	}
	return d.Resource + " in " + d.Address
}

// code writes the numbered lines of a snippet, its highlighted part underlined:
// by the terminal, or else by a line below where it is part of a line, so that
// several diagnostics about one line can be told apart.
func (b box) code(s *Snippet) {
	at := 0
	for i, text := range strings.Split(s.Code, "\n") {
		from, to := clamp(s.HighlightStart-at, len(text)), clamp(s.HighlightEnd-at, len(text))
		marked := text[:from] + b.Style.Underline(text[from:to]) + text[to:]
		b.line(strings.TrimRight(fmt.Sprintf("%4d: %s", s.StartLine+i, marked), " "))
		if !b.Style.Color && s.HighlightStart >= at && s.HighlightEnd <= at+len(text) && isPart(text, from, to) {
			b.line("      " + blank(text[:from]) + strings.Repeat("^", max(1, ansi.StringWidth(text[from:to]))))
		}
		at += len(text) + 1
	}
}

// isPart tells whether a piece of a line leaves out something other than space.
func isPart(line string, from, to int) bool {
	return strings.TrimSpace(line[:from]) != "" || strings.TrimSpace(line[to:]) != ""
}

// blank returns space as wide as the text. Tabs stay, as they depend on the column.
func blank(text string) string {
	columns := strings.Split(text, "\t")
	for i, piece := range columns {
		columns[i] = strings.Repeat(" ", ansi.StringWidth(piece))
	}
	return strings.Join(columns, "\t")
}

func clamp(n, limit int) int { return max(0, min(n, limit)) }

func (b box) values(s *Snippet) {
	if len(s.Values) == 0 && s.FunctionCall == nil {
		return
	}
	b.line("    " + b.Style.Dim("├────────────────"))
	if call := s.FunctionCall; call != nil {
		b.line(fmt.Sprintf("    %s while calling %s(%s)", b.Style.Dim("│"),
			b.Style.Bold(textstyle.Clean(call.Name)), strings.Join(call.Parameters, ", ")))
	}
	for _, v := range s.Values {
		b.line(fmt.Sprintf("    %s %s %s", b.Style.Dim("│"), b.Style.Bold(v.Traversal), v.Statement))
	}
}
