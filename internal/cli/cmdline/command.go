// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cmdline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
)

// Command is a command, or a group of commands, of a program with sessions of type S.
type Command[S any] struct {
	Name    string
	Args    string // positional arguments as the usage line shows them
	Summary string // one sentence, for lists
	Long    string // help besides that of the options; paragraphs with double spaces in them are tables
	Example string // commands, one a line

	MinArgs, MaxArgs int  // number of positional arguments
	PassesOn         bool // from the first positional argument on, nothing is an option of this command
	Interruptible    bool // handles interrupts from its first step that matters on

	// Flags defines the options. It is called with a session whose options nobody reads for help and
	// completion, too.
	Flags func(*Flags[S])

	// Run runs the command and returns the exit code of the process. A group need not have it; one
	// that has runs without the name of one of its commands.
	Run func(ctx context.Context, session S, args []string) (status int, err error)

	Commands []*Command[S] // of a group
	Foreign  bool          // is about files of other programs: help lists it apart from everyday commands

	group *Command[S] // that it is in; nil for the program itself
}

// Path returns the command as users type it.
func (c *Command[S]) Path() string {
	if c.group == nil {
		return c.Name
	}
	return c.group.Path() + " " + c.Name
}

func (c *Command[S]) checkArgs(args []string) error {
	switch {
	case len(args) < c.MinArgs:
		return failure.Error("Missing argument", "The command needs: %s %s. Run \"%s -h\" for an example.", c.Path(), c.Args, c.Path())
	case len(args) > c.MaxArgs && c.MaxArgs == 0:
		return failure.Error("Too many arguments", "The command takes no arguments besides options, but there is %q. Run \"%s -h\" for help.",
			args[0], c.Path())
	case len(args) > c.MaxArgs:
		return failure.Error("Too many arguments", "The argument %q is one too many: %s %s.", args[c.MaxArgs], c.Path(), c.Args)
	}
	return nil
}

// usage is the command line as users write it.
func (c *Command[S]) usage() string {
	usage := c.Path()
	switch {
	case c.PassesOn:
	case len(c.Commands) > 0 && c.Run != nil:
		usage += " [COMMAND]"
	case len(c.Commands) > 0:
		usage += " COMMAND"
	}
	usage += " [options]"
	if c.Args != "" {
		usage += " " + c.Args
	}
	return usage
}

// help returns the help text of a command, for a screen that is width columns wide.
func (c *Command[S]) help(flags *Flags[S], width int) string {
	width = max(min(width, HelpWidth), leastHelpWidth)
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s\n\n%s\n", c.usage(), strings.Join(wrapWords(c.Summary, width), "\n"))
	for paragraph := range strings.SplitSeq(strings.TrimSpace(c.Long), "\n\n") {
		writeParagraph(&b, paragraph, width)
	}
	for _, section := range c.sections() {
		fmt.Fprintf(&b, "\n%s:\n", section.title)
		writeColumns(&b, commandRows(section.commands), width)
	}
	own, global := flags.rows()
	if len(own) > 0 {
		fmt.Fprintf(&b, "\n%s:\n", optionsTitle)
		writeColumns(&b, own, width)
	}
	if len(global) > 0 {
		fmt.Fprintf(&b, "\n%s:\n", globalTitle)
		writeColumns(&b, global, width)
	}
	if c.Example != "" {
		fmt.Fprintf(&b, "\n%s:\n", exampleTitle)
		for line := range strings.Lines(strings.TrimSpace(c.Example) + "\n") {
			b.WriteString("  " + line)
		}
	}
	return b.String()
}

// sections are the commands of a group as help lists them.
func (c *Command[S]) sections() []section[S] {
	isForeign := func(sub *Command[S]) bool { return sub.Foreign }
	isOwn := func(sub *Command[S]) bool { return !sub.Foreign }
	all := []section[S]{
		{"Commands", slices.DeleteFunc(slices.Clone(c.Commands), isForeign)},
		{"Commands for files of other programs", slices.DeleteFunc(slices.Clone(c.Commands), isOwn)},
	}
	return slices.DeleteFunc(all, func(s section[S]) bool { return len(s.commands) == 0 })
}

// section is a list of commands in help.
type section[S any] struct {
	title    string
	commands []*Command[S]
}

// Titles in help.
const (
	optionsTitle = "Options"
	globalTitle  = "Options of all commands"
	exampleTitle = "Example"
)

func commandRows[S any](commands []*Command[S]) [][2]string {
	var rows [][2]string
	for _, c := range commands {
		rows = append(rows, [2]string{c.Name, c.Summary})
	}
	return rows
}

// HelpWidth is the maximal width of help texts, in columns.
const HelpWidth = 100

const leastHelpWidth = 50

// writeParagraph writes an empty line and a paragraph, which is wrapped unless it is a table, which
// has columns.
func writeParagraph(b *strings.Builder, text string, width int) {
	switch {
	case text == "":
	case isTable(text):
		fmt.Fprintf(b, "\n%s\n", text)
	default:
		fmt.Fprintf(b, "\n%s\n", strings.Join(wrapWords(text, width), "\n"))
	}
}

// isTable reports whether a paragraph has columns, which wrapping would destroy.
func isTable(paragraph string) bool { return strings.Contains(paragraph, "  ") }

// writeColumns writes two columns; the second is wrapped.
func writeColumns(b *strings.Builder, rows [][2]string, total int) {
	const widest = 24
	width := 0
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	width = min(width, widest)
	for _, row := range rows {
		lines := wrapWords(row[1], total-width-4)
		left := row[0]
		if len(left) > width {
			fmt.Fprintf(b, "  %s\n", left)
			left = ""
		}
		for _, line := range lines {
			b.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s  %s", width, left, line), " ") + "\n")
			left = ""
		}
	}
}

func wrapWords(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// find returns the subcommand of that name.
//
// Errors: [failure.Error] of a command that does not exist.
func (p *Program[S]) find(c *Command[S], name string) (*Command[S], error) {
	i := slices.IndexFunc(c.Commands, func(sub *Command[S]) bool { return sub.Name == name })
	if i >= 0 {
		return c.Commands[i], nil
	}
	if hint, ok := p.Hints.Commands[c.Path()+" "+name]; ok {
		return nil, failure.Error("Unknown command", "There is no command %q. %s", name, hint)
	}
	names := make([]string, len(c.Commands))
	for i, sub := range c.Commands {
		names[i] = sub.Name
	}
	return nil, failure.Error("Unknown command", "There is no command %q.%s Run \"%s -h\" for a list of commands.",
		name, nearest.DidYouMean(name, names), c.Path())
}
