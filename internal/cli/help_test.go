// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
)

// Every command has a summary, a usage line and an example, and its options have a usage.
func TestHelpIsComplete(t *testing.T) {
	program := newProgram()
	var check func(c *session.Command)
	check = func(c *session.Command) {
		if c.Summary == "" || !strings.HasSuffix(c.Summary, ".") {
			t.Errorf("%s: summary %q", c.Path(), c.Summary)
		}
		if c != program.Root && !strings.Contains(c.Example, c.Path()) {
			t.Errorf("%s: the example is %q", c.Path(), c.Example)
		}
		if c.Run == nil && len(c.Commands) == 0 {
			t.Errorf("%s: must run or have commands", c.Path())
		}
		for _, option := range program.Options(c) {
			if option.Usage == "" {
				t.Errorf("%s: option -%s has no usage", c.Path(), option.Name)
			}
		}
		for _, sub := range c.Commands {
			check(sub)
		}
	}
	check(program.Root)
}

// Help texts fit a terminal of 100 columns, except for examples and tables.
func TestHelpWidth(t *testing.T) {
	program := newProgram()
	var check func(c *session.Command)
	check = func(c *session.Command) {
		text, _, _ := strings.Cut(program.Help(c, cmdline.HelpWidth), "\nExample:\n")
		for line := range strings.Lines(text) {
			if len(strings.TrimSuffix(line, "\n")) > cmdline.HelpWidth && !strings.Contains(line, "  ") {
				t.Errorf("%s -h is wider than %d columns: %s", c.Path(), cmdline.HelpWidth, line)
			}
		}
		for _, sub := range c.Commands {
			check(sub)
		}
	}
	check(program.Root)
}
