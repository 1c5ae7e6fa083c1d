// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cmdline

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
)

// Flags parses the options of a command as package flag does (rule C1).
type Flags[S any] struct {
	*flag.FlagSet
	Session S // where the values of shared options go

	program *Program[S]
	command *Command[S]
	global  map[string]bool // options that all commands have
}

// flags returns the options of a command, which put their values into a session.
func (p *Program[S]) flags(c *Command[S], session S) *Flags[S] {
	f := p.globalFlags(c, session)
	if c.Flags != nil {
		c.Flags(f)
	}
	return f
}

// globalFlags are those that all commands have.
func (p *Program[S]) globalFlags(c *Command[S], session S) *Flags[S] {
	f := &Flags[S]{
		FlagSet: flag.NewFlagSet(c.Path(), flag.ContinueOnError),
		Session: session,
		program: p,
		command: c,
		global:  map[string]bool{},
	}
	f.SetOutput(io.Discard)
	if p.Global != nil {
		p.Global(f)
	}
	f.VisitAll(func(option *flag.Flag) { f.global[option.Name] = true })
	return f
}

// leading parses the options before the name of a command, and returns the remaining arguments.
func (f *Flags[S]) leading(args []string) ([]string, error) {
	if err := f.Parse(args); err != nil {
		return nil, f.explain(err, args)
	}
	return f.Args(), nil
}

// parseAll parses options wherever they stand and returns the positional arguments.
func (f *Flags[S]) parseAll(args []string) ([]string, error) {
	var positional []string
	for {
		if err := f.Parse(args); err != nil {
			return nil, f.explain(err, args)
		}
		rest := f.Args()
		if len(rest) == 0 {
			return positional, nil
		}
		if endsOptions(args, rest) {
			return append(positional, rest...), nil
		}
		positional, args = append(positional, rest[0]), rest[1:]
	}
}

// onlyGlobal checks that options before the name of a subcommand are of those that all commands
// have.
func (f *Flags[S]) onlyGlobal(sub *Command[S]) error {
	var misplaced error
	f.Visit(func(option *flag.Flag) {
		if !f.global[option.Name] {
			misplaced = misplacedOption(option.Name, sub)
		}
	})
	return misplaced
}

// asksForJSON reports whether -json is among arguments that may be wrong otherwise.
func (f *Flags[S]) asksForJSON(args []string) bool {
	if f.Lookup("json") == nil {
		return false
	}
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		return slices.Contains([]string{"-json", "--json", "-json=true", "--json=true"}, arg)
	})
}

// explain turns an error of package flag about these arguments into a diagnostic.
func (f *Flags[S]) explain(err error, args []string) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	text := err.Error()
	name, unknown := strings.CutPrefix(text, "flag provided but not defined: -")
	if !unknown {
		return failure.Error("Invalid option", "%s. Run \"%s -h\" for help.", failure.Capitalize(text), f.command.Path())
	}
	if sub := f.commandWith(name, args); sub != nil {
		return misplacedOption(name, sub)
	}
	if hint, ok := f.program.Hints.Options[name]; ok {
		return failure.Error("Unknown option", "There is no option -%s for \"%s\". %s", name, f.command.Path(), hint)
	}
	var names []string
	f.VisitAll(func(option *flag.Flag) { names = append(names, option.Name) })
	hint := nearest.DidYouMeanBelow("-", name, names)
	if hint == "" {
		hint = f.otherCommands(name)
	}
	return failure.Error("Unknown option", "There is no option -%s for \"%s\".%s Run \"%[2]s -h\" for a list of options.",
		name, f.command.Path(), hint)
}

func misplacedOption[S any](name string, sub *Command[S]) error {
	return failure.Error("Misplaced option",
		"The option -%s stands before \"%s\". Options of a command stand after its name: %s -%[1]s", name, sub.Name, sub.Path())
}

// commandWith returns the subcommand that is named in the arguments and has an option, or nil.
func (f *Flags[S]) commandWith(option string, args []string) *Command[S] {
	for _, sub := range f.command.Commands {
		if slices.Contains(args, sub.Name) && f.program.has(sub, option) {
			return sub
		}
	}
	return nil
}

// otherCommands names the commands of the program that have an option.
func (f *Flags[S]) otherCommands(option string) string {
	var names []string
	for _, c := range f.program.Root.Commands {
		if c.Path() != f.command.Path() && f.program.has(c, option) {
			names = append(names, fmt.Sprintf("%q", c.Path()))
		}
	}
	if len(names) == 0 || len(names) > 4 {
		return ""
	}
	return fmt.Sprintf(" It is an option of %s.", strings.Join(names, " and "))
}

// has reports whether a command has an option.
func (p *Program[S]) has(c *Command[S], option string) bool {
	return p.flags(c, p.NewSession()).Lookup(option) != nil
}

// rows are the options as help shows them: those of the command, and those of all commands.
func (f *Flags[S]) rows() (own, global [][2]string) {
	f.VisitAll(func(option *flag.Flag) {
		placeholder, usage := flag.UnquoteUsage(option)
		left := "-" + option.Name
		if placeholder != "" && !isBool(option) {
			left += "=" + placeholder
		}
		row := [2]string{left, usage}
		if f.global[option.Name] {
			global = append(global, row)
			return
		}
		own = append(own, row)
	})
	return own, global
}

func isBool(option *flag.Flag) bool {
	value, ok := option.Value.(interface{ IsBoolFlag() bool })
	return ok && value.IsBoolFlag() && option.DefValue == "false"
}

// Only adds an option that has but one value, a word, which sets a variable.
func (f *Flags[S]) Only(set *bool, name, word, usage string) {
	*set = false
	f.Func(name, usage, func(text string) error {
		if text != word {
			return fmt.Errorf("the only value is %s", word)
		}
		*set = true
		return nil
	})
}

// File is an option that names a file, and is not empty.
type File string

// String implements [flag.Value].
func (v *File) String() string { return string(*v) }

// Set implements [flag.Value].
func (v *File) Set(value string) error {
	if value == "" {
		return errors.New("it must name a file")
	}
	*v = File(value)
	return nil
}

// List is an option that may be given several times.
type List []string

// String implements [flag.Value].
func (l *List) String() string { return fmt.Sprint([]string(*l)) }

// Set implements [flag.Value].
func (l *List) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// Count is an option with a number from 1; 0 when it was not given.
type Count int

// String implements [flag.Value].
func (c *Count) String() string { return strconv.Itoa(int(*c)) }

// Set implements [flag.Value].
func (c *Count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("must be a whole number from 1")
	}
	*c = Count(n)
	return nil
}

// endsOptions reports whether the arguments that are left begin after a "--".
func endsOptions(args, rest []string) bool {
	parsed := len(args) - len(rest)
	return parsed > 0 && args[parsed-1] == "--"
}
