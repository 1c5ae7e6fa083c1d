// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cmdline

import (
	"errors"
	"flag"
)

// Program is a tree of commands. Make it with [New].
type Program[S any] struct {
	Root       *Command[S]
	NewSession func() S // a session for options that nobody reads; it must cost nothing

	Global func(*Flags[S]) // defines the options of all commands; may be nil
	Hints  Hints

	// FileArgs are words of [Command.Args] that stand for files; ListedArgs are those for which the
	// shell can get the values by a command of the program that prints one a line, by its name.
	FileArgs   []string
	ListedArgs map[string]string

	// ListedValues are such commands for the values of options, by the names of the options.
	ListedValues map[string]string
}

// Hints name replacements for commands and options that do not exist, but that users of other
// programs know.
type Hints struct {
	Commands map[string]string // by the path of the command
	Options  map[string]string // by the name of the option
}

// New returns a program whose commands know their groups.
func New[S any](p Program[S]) *Program[S] {
	setGroups(p.Root)
	return &p
}

func setGroups[S any](group *Command[S]) {
	for _, c := range group.Commands {
		c.group = group
		setGroups(c)
	}
}

// Invocation is a command with its arguments.
type Invocation[S any] struct {
	Command *Command[S]
	Args    []string // positional
	Help    Help     // the text to show instead of running the command

	// JSON is set if the option -json is among the arguments of a command that has it, also if they
	// are wrong otherwise.
	JSON bool
}

// Help is the reason for showing help.
type Help int

// Why help is to be shown.
const (
	NoHelp         Help = iota
	HelpRequested       // by -h
	CommandMissing      // a group cannot run by itself
)

// Parse finds the command that arguments name, and puts the values of its options into a session.
//
// Errors: [failure.Error] for mistakes in the arguments. The invocation then has the command as far
// as it was found.
func (p *Program[S]) Parse(session S, args []string) (Invocation[S], error) {
	c := p.Root
	for len(c.Commands) > 0 {
		flags := p.globalFlags(c, session)
		if c.Run != nil {
			c.Flags(flags)
		}
		inv := Invocation[S]{Command: c, JSON: flags.asksForJSON(args)}
		rest, err := flags.leading(args)
		if err != nil {
			return helpOr(inv, err)
		}
		if len(rest) == 0 && c.Run == nil {
			return Invocation[S]{Command: c, Help: CommandMissing}, nil
		}
		if len(rest) == 0 {
			return inv, c.checkArgs(nil)
		}
		next, err := p.find(c, rest[0])
		if c.PassesOn && (err != nil || endsOptions(args, rest)) {
			inv.Args = rest // they are for another program
			return inv, c.checkArgs(rest)
		}
		if err == nil {
			err = flags.onlyGlobal(next)
		}
		if err != nil {
			return Invocation[S]{Command: c}, err
		}
		c, args = next, rest[1:]
	}
	flags := p.flags(c, session)
	inv := Invocation[S]{Command: c, JSON: flags.asksForJSON(args)}
	parse := flags.parseAll
	if c.PassesOn {
		parse = flags.leading
	}
	var err error
	if inv.Args, err = parse(args); err != nil {
		return helpOr(inv, err)
	}
	return inv, c.checkArgs(inv.Args)
}

// helpOr makes of the error by which package flag asks for help an invocation that does.
func helpOr[S any](inv Invocation[S], err error) (Invocation[S], error) {
	if errors.Is(err, flag.ErrHelp) {
		inv.Help, err = HelpRequested, nil
	}
	return inv, err
}

// Help returns the help text of a command for a screen of a width in columns, which is [HelpWidth]
// at most.
func (p *Program[S]) Help(c *Command[S], width int) string {
	return c.help(p.flags(c, p.NewSession()), width)
}

// Options returns the options of a command, sorted by name.
func (p *Program[S]) Options(c *Command[S]) []*flag.Flag {
	var options []*flag.Flag
	p.flags(c, p.NewSession()).VisitAll(func(option *flag.Flag) { options = append(options, option) })
	return options
}

// Find returns the command that the names lead to.
//
// Errors: [failure.Error] of a name that is not of a command.
func (p *Program[S]) Find(names []string) (*Command[S], error) {
	c := p.Root
	for _, name := range names {
		next, err := p.find(c, name)
		if err != nil {
			return nil, err
		}
		c = next
	}
	return c, nil
}

// The exit codes of a process.
const (
	ExitOK      = 0
	ExitError   = 1
	ExitChanges = 2 // there are changes, where it was asked whether there are

	ExitApproval = 3 // a plan needs approval, and nobody could be asked
)
