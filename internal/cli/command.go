// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/nearest"
)

// command is a command, or a group of commands.
type command struct {
	name    string
	args    string // positional arguments as the usage line shows them
	summary string // one sentence, for lists
	long    string // what a user has to know, beside the options
	example string // commands, one a line

	minArgs, maxArgs int  // number of positional arguments
	passesOn         bool // from the first positional argument on, nothing is an option of this command
	interruptible    bool // it handles interrupts from its first step that matters on

	flags func(*flagSet)
	run   func(ctx context.Context, s *session, args []string) (status int, err error)

	commands []*command // of a group
	foreign  bool       // it is about files of other programs, and stands apart from everyday commands in help
	parent   string     // names of the groups that a command is in
}

// group returns a command that holds others. It may also run by itself, without the name of one of them.
func group(c *command, commands ...*command) *command {
	for _, sub := range commands {
		sub.parent = c.name
	}
	c.commands = commands
	return c
}

// path returns the command as users type it.
func (c *command) path() string {
	words := []string{"cairn"}
	if c.parent != "" {
		words = append(words, c.parent)
	}
	if c.name != "cairn" {
		words = append(words, c.name)
	}
	return strings.Join(words, " ")
}

func (c *command) checkArgs(args []string) error {
	switch {
	case len(args) < c.minArgs:
		return fail("Argument missing", "The command needs: %s %s. Run \"%s -h\" for an example.", c.path(), c.args, c.path())
	case len(args) > c.maxArgs && c.maxArgs == 0:
		return fail("Too many arguments", "The command takes no arguments besides options, but there is %q. Run \"%s -h\" for help.",
			args[0], c.path())
	case len(args) > c.maxArgs:
		return fail("Too many arguments", "The argument %q is one too many: %s %s.", args[c.maxArgs], c.path(), c.args)
	}
	return nil
}

// help returns the help text of a command.
func (c *command) help(flags *flagSet) string {
	var b strings.Builder
	width := helpWidth
	if out := flags.session.streams.Out; isTerminal(out) {
		width = min(helpWidth, max(terminalSize(out).Width, leastHelpWidth))
	}
	usage := c.path()
	switch {
	case c.passesOn:
	case len(c.commands) > 0 && c.run != nil:
		usage += " [COMMAND]"
	case len(c.commands) > 0:
		usage += " COMMAND"
	}
	usage += " [options]"
	if c.args != "" {
		usage += " " + c.args
	}
	fmt.Fprintf(&b, "Usage: %s\n\n%s\n", usage, strings.Join(wrapWords(c.summary, width), "\n"))
	for paragraph := range strings.SplitSeq(strings.TrimSpace(c.long), "\n\n") {
		writeParagraph(&b, paragraph, width)
	}
	if len(c.commands) > 0 {
		b.WriteString("\nCommands:\n")
		isForeign := func(sub *command) bool { return sub.foreign }
		writeColumns(&b, commandRows(slices.DeleteFunc(slices.Clone(c.commands), isForeign)), width)
		if slices.ContainsFunc(c.commands, isForeign) {
			b.WriteString("\nCommands for files of other programs:\n")
			writeColumns(&b, commandRows(slices.DeleteFunc(slices.Clone(c.commands), func(sub *command) bool { return !isForeign(sub) })), width)
		}
	}
	own, global := flags.rows()
	if len(own) > 0 {
		b.WriteString("\nOptions:\n")
		writeColumns(&b, own, width)
	}
	if len(global) > 0 {
		b.WriteString("\nOptions of all commands:\n")
		writeColumns(&b, global, width)
	}
	if c.example != "" {
		b.WriteString("\nExample:\n")
		for line := range strings.Lines(strings.TrimSpace(c.example) + "\n") {
			b.WriteString("  " + line)
		}
	}
	return b.String()
}

func commandRows(commands []*command) [][2]string {
	var rows [][2]string
	for _, c := range commands {
		rows = append(rows, [2]string{c.name, c.summary})
	}
	return rows
}

// How wide help texts are: as wide as the terminal, within limits.
const (
	helpWidth      = 100
	leastHelpWidth = 50
)

// writeParagraph writes an empty line and a paragraph, which is wrapped unless it is a table, which has columns.
func writeParagraph(b *strings.Builder, text string, width int) {
	switch {
	case text == "":
	case strings.Contains(text, "  "):
		fmt.Fprintf(b, "\n%s\n", text)
	default:
		fmt.Fprintf(b, "\n%s\n", strings.Join(wrapWords(text, width), "\n"))
	}
}

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

func helpCommand() *command {
	return &command{
		name:    "help",
		args:    "[COMMAND]",
		summary: "Shows the help of a command.",
		example: "cairn help plan\ncairn help state list",
		maxArgs: 2,
		run: func(_ context.Context, s *session, args []string) (int, error) {
			c := rootCommand()
			for _, name := range args {
				next, err := c.find(name)
				if err != nil {
					return 0, err
				}
				c = next
			}
			flags := s.newFlags(c)
			if c.flags != nil {
				c.flags(flags)
			}
			s.stdout("%s", c.help(flags))
			return exitOK, nil
		},
	}
}

// didYouMean suggests the nearest of the names, if there is one that may have been meant.
func didYouMean(given string, names []string, prefix string) string {
	return nearest.DidYouMeanBelow(prefix, given, names)
}
