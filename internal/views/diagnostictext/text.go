// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package diagnostictext writes diagnostics for a person, each in a box with its piece of source
// code and the values involved. Control characters and secrets are out of them already (rules D1
// and D2 of package diagnostic).
package diagnostictext

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
)

// Options say how diagnostics are written. Width is in columns; 78 if zero.
type Options struct {
	Style textstyle.Style
	Width int

	// CompactWarnings writes warnings that no error is among as a list, each kind once.
	CompactWarnings bool
}

// Write writes diagnostics for a person, each in a box that is open to the right.
func Write(w io.Writer, list []diagnostic.Diagnostic, options Options) error {
	terminal := options.Width > 0
	if !terminal {
		options.Width = 78
	}
	var b strings.Builder
	if options.CompactWarnings && len(list) > 0 && !slices.ContainsFunc(list, isError) {
		writeCompact(&b, list, options)
		list = nil
	}
	for i, d := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		box{&b, options, terminal, options.color(d)}.write(d)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func isError(d diagnostic.Diagnostic) bool { return d.Severity != "warning" }

// writeCompact lists warnings by summary, each with its first place and how many more of it there
// are.
func writeCompact(b *strings.Builder, list []diagnostic.Diagnostic, options Options) {
	b.WriteString(options.Style.Bold(options.Style.Yellow("Warnings:")) + "\n\n")
	more := map[string]int{}
	for _, d := range list {
		more[d.Summary]++
	}
	for _, d := range list {
		others := more[d.Summary] - 1
		if others < 0 {
			continue // said before
		}
		delete(more, d.Summary)
		if d.LeftOut > 0 {
			fmt.Fprintf(b, "- %d more warnings, of these or other kinds\n", d.LeftOut)
			continue
		}
		text := "- " + d.Summary
		if d.Range != nil {
			text += "\n  on " + where(d)
		} else if subject := with(d); subject != "" {
			text += "\n  with " + subject
		}
		if others > 0 {
			text += fmt.Sprintf(" (and %d more)", others)
		}
		b.WriteString(text + "\n")
	}
}

func (o Options) color(d diagnostic.Diagnostic) func(string) string {
	if d.Severity == "warning" {
		return o.Style.Yellow
	}
	return o.Style.Red
}

// columnsOfEdge is the width of the edge of a box.
const columnsOfEdge = 2

// box writes one  Its colour is that of the severity.
type box struct {
	*strings.Builder
	Options
	terminal bool // nothing should be wider than Width; elsewhere only the detail is
	color    func(string) string
}

func (b box) write(d diagnostic.Diagnostic) {
	b.WriteString(b.color("╷") + "\n")
	title := "Error: "
	if d.Severity == "warning" {
		title = "Warning: "
	}
	code := ""
	if d.Code != "" {
		code = " (" + d.Code + ")"
	}
	first, rest, _ := strings.Cut(d.Summary, "\n") // engines make a whole text of some
	b.line(b.Style.Bold(b.color(title)) + b.Style.Bold(first) + code)
	for line := range strings.Lines(rest) {
		b.line(b.Style.Bold(strings.TrimSuffix(line, "\n")))
	}
	b.place(d)
	if d.Detail != "" {
		b.line("")
		for _, line := range textstyle.Wrap(d.Detail, b.Width-columnsOfEdge) {
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

// words writes text that begins with an indentation, broken between words where a terminal is too
// narrow for it.
func (b box) words(text string) {
	if !b.terminal {
		b.line(text)
		return
	}
	for line := range strings.SplitSeq(textstyle.Fold(text, b.Width-columnsOfEdge), "\n") {
		b.line(line)
	}
}

// place writes the place of the cause in the source.
func (b box) place(d diagnostic.Diagnostic) {
	if d.Range == nil {
		if subject := with(d); subject != "" {
			b.line("")
			b.words("  with " + subject)
		}
		return
	}
	b.line("")
	where := "  on " + where(d)
	if d.Range.Start == (diagnostic.Pos{}) { // of the file as a whole
		b.words(where)
		return
	}
	if subject := with(d); subject != "" {
		b.words("  with " + subject + ",")
	}
	if d.Snippet == nil {
		b.words(where + ":")
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
	b.words(where + ":")
	b.code(d.Snippet)
	b.values(d.Snippet)
}

// where names the place. A diagnostic with a code is for programs, too, and gets the form that
// editors know.
func where(d diagnostic.Diagnostic) string {
	name, at := safetext.Name(d.Range.Filename), d.Range.Start
	switch {
	case at == diagnostic.Pos{}:
		return name
	case d.Code != "":
		return fmt.Sprintf("%s:%d:%d", name, at.Line, at.Column)
	default:
		return fmt.Sprintf("%s line %d", name, at.Line)
	}
}

// with names the subject of a diagnostic, or is "".
func with(d diagnostic.Diagnostic) string {
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
func (b box) code(s *diagnostic.Snippet) {
	at := 0
	for i, text := range strings.Split(s.Code, "\n") {
		number := fmt.Sprintf("%4d: ", s.StartLine+i)
		start, end := s.HighlightStart-at, s.HighlightEnd-at
		below := !b.Style.Color && start >= 0 && end <= len(text) && isPart(text, clamp(start, len(text)), clamp(end, len(text)))
		behind := 0
		for _, piece := range b.pieces(text, len(number)) {
			from, to := clamp(start-behind, len(piece)), clamp(end-behind, len(piece))
			b.line(strings.TrimRight(number+piece[:from]+b.Style.Underline(piece[from:to])+piece[to:], " "))
			behind += len(piece)
			isPlace := start == end && start >= behind-len(piece) && (start < behind || behind == len(text))
			if below && (to > from || isPlace) {
				b.line(blank(number) + blank(piece[:from]) + strings.Repeat("^", max(1, ansi.StringWidth(piece[from:to]))))
			}
			number = blank(number)
		}
		at += len(text) + 1
	}
}

// pieces cuts a line of code into pieces that fit behind the number of the line on a terminal.
func (b box) pieces(line string, number int) []string {
	room := b.Width - columnsOfEdge - number
	var pieces []string
	for b.terminal && room > 0 {
		piece := ansi.Truncate(line, room, "")
		if piece == "" || len(piece) >= len(line) {
			break
		}
		pieces, line = append(pieces, piece), line[len(piece):]
	}
	return append(pieces, line)
}

// isPart reports whether a part of a line leaves out something other than space.
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

func (b box) values(s *diagnostic.Snippet) {
	if len(s.Values) == 0 && s.FunctionCall == nil {
		return
	}
	b.line("    " + b.Style.Dim("├────────────────"))
	if call := s.FunctionCall; call != nil {
		b.line(fmt.Sprintf("    %s while calling %s(%s)", b.Style.Dim("│"),
			b.Style.Bold(safetext.Clean(call.Name)), strings.Join(call.Parameters, ", ")))
	}
	for _, v := range s.Values {
		b.line(fmt.Sprintf("    %s %s %s", b.Style.Dim("│"), b.Style.Bold(v.Traversal), v.Statement))
	}
}
