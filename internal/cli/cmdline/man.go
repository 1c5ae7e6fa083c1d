// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cmdline

import (
	"fmt"
	"strings"
	"time"
)

// ManOrigin is the text about the program in the margins of man pages.
type ManOrigin struct {
	Version string
	Date    time.Time // left out if it is zero
}

// ManPages returns a page of section 1 for each command, by the names of their files. They have the
// texts of the help, in the language of man.
func (p *Program[S]) ManPages(origin ManOrigin) map[string]string {
	pages := map[string]string{}
	var add func(c *Command[S])
	add = func(c *Command[S]) {
		pages[manName(c)+".1"] = p.manPage(c, origin)
		for _, sub := range c.Commands {
			add(sub)
		}
	}
	add(p.Root)
	return pages
}

// manName is how man finds the page of a command.
func manName[S any](c *Command[S]) string { return strings.ReplaceAll(c.Path(), " ", "-") }

func (p *Program[S]) manPage(c *Command[S], origin ManOrigin) string {
	var b strings.Builder
	date := ""
	if !origin.Date.IsZero() {
		date = origin.Date.Format(time.DateOnly)
	}
	fmt.Fprintf(&b, ".TH %s 1 %s %s\n", roffWord(strings.ToUpper(manName(c))), roffWord(date), roffWord(p.Root.Name+" "+origin.Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(c)), roff(strings.TrimSuffix(c.Summary, ".")))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n%s\n", roff(c.Path()), roff(strings.TrimPrefix(c.usage(), c.Path()+" ")))
	writeManDescription(&b, c)
	for _, section := range c.sections() {
		fmt.Fprintf(&b, ".SH %s\n", strings.ToUpper(section.title))
		for _, sub := range section.commands {
			fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(manName(sub)), roff(sub.Summary))
		}
	}
	own, global := p.flags(c, p.NewSession()).rows()
	writeManOptions(&b, optionsTitle, own)
	writeManOptions(&b, globalTitle, global)
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH %s\n", strings.ToUpper(exampleTitle))
		writeManLines(&b, c.Example)
	}
	if c.group != nil {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(manName(c.group)))
	}
	return b.String()
}

func writeManDescription[S any](b *strings.Builder, c *Command[S]) {
	fmt.Fprintf(b, ".SH DESCRIPTION\n%s\n", roff(c.Summary))
	for paragraph := range strings.SplitSeq(strings.TrimSpace(c.Long), "\n\n") {
		switch {
		case paragraph == "":
		case isTable(paragraph):
			b.WriteString(".PP\n")
			writeManLines(b, paragraph)
		default:
			fmt.Fprintf(b, ".PP\n%s\n", roff(strings.Join(strings.Fields(paragraph), " ")))
		}
	}
}

func writeManOptions(b *strings.Builder, title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", strings.ToUpper(title))
	for _, row := range rows {
		option, value, hasValue := strings.Cut(row[0], "=")
		if hasValue {
			fmt.Fprintf(b, ".TP\n.BI %s= %s\n%s\n", roff(option), roffWord(value), roff(row[1]))
			continue
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(option), roff(row[1]))
	}
}

// writeManLines writes lines that are not to be filled.
func writeManLines(b *strings.Builder, text string) {
	b.WriteString(".nf\n")
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		b.WriteString(roff(line) + "\n")
	}
	b.WriteString(".fi\n")
}

// roff escapes a text that begins a line: a backslash and a leading period or apostrophe are
// commands, a plain hyphen is set as a typographic one, which cannot be copied, and characters
// beyond ASCII depend on the locale.
func roff(text string) string {
	var b strings.Builder
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		b.WriteString(`\&`)
	}
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString("\\`")
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// roffWord makes a text one argument of a command of roff.
func roffWord(text string) string {
	return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"`
}
