// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// flagSet parses options as package flag does, with -x=v, --x=v and -x v, and lets them stand after positional
// arguments, too.
type flagSet struct {
	*flag.FlagSet
	command *command
	global  map[string]bool // options that all commands have
	session *session
}

// globalOptions are the options of all commands.
type globalOptions struct {
	chdir      string
	noColor    bool
	state      string
	deployment string
	engine     string
	lockfile   lockfileValue

	lockTimeout time.Duration // how long to wait for somebody else's lock
	json        bool          // of the commands that have it
}

func (s *session) newFlags(c *command) *flagSet {
	f := &flagSet{FlagSet: flag.NewFlagSet(c.path(), flag.ContinueOnError), command: c, global: map[string]bool{}, session: s}
	f.SetOutput(io.Discard)
	f.StringVar(&s.options.chdir, "chdir", s.options.chdir, "go to `DIR` first; all other paths are relative to it")
	f.BoolVar(&s.options.noColor, "no-color", s.options.noColor, "write plain text, also to a terminal")
	f.VisitAll(func(option *flag.Flag) { f.global[option.Name] = true })
	return f
}

// leading parses the options before the name of a command, and returns what follows them.
func (f *flagSet) leading(args []string) ([]string, error) {
	if err := f.Parse(args); err != nil {
		return nil, f.explain(err, args)
	}
	return f.Args(), nil
}

// parseAll parses options wherever they stand and returns the positional arguments.
func (f *flagSet) parseAll(args []string) ([]string, error) {
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

// onlyGlobal checks that options before the name of a subcommand are of those that all commands have.
func (f *flagSet) onlyGlobal(sub *command) error {
	var misplaced error
	f.Visit(func(option *flag.Flag) {
		if !f.global[option.Name] {
			misplaced = misplacedOption(option.Name, sub)
		}
	})
	return misplaced
}

// asksForJSON tells whether -json is among arguments that may be wrong otherwise.
func (f *flagSet) asksForJSON(args []string) bool {
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

// explain makes a diagnostic of what package flag says of these arguments.
func (f *flagSet) explain(err error, args []string) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	text := err.Error()
	name, unknown := strings.CutPrefix(text, "flag provided but not defined: -")
	if !unknown {
		return fail("Wrong option", "%s. Run \"%s -h\" for help.", upperFirst(text), f.command.path())
	}
	if sub := f.commandWith(name, args); sub != nil {
		return misplacedOption(name, sub)
	}
	if hint, ok := elsewhereOptions[name]; ok {
		return fail("Unknown option", "There is no option -%s for \"%s\". %s", name, f.command.path(), hint)
	}
	var names []string
	f.VisitAll(func(option *flag.Flag) { names = append(names, option.Name) })
	hint := didYouMean(name, names, "-")
	if hint == "" {
		hint = f.otherCommands(name)
	}
	return fail("Unknown option", "There is no option -%s for \"%s\".%s Run \"%[2]s -h\" for a list of options.",
		name, f.command.path(), hint)
}

func misplacedOption(name string, sub *command) error {
	return fail("Option at the wrong place", "The option -%s stands before \"%s\". Options of a command stand after its name: %s -%[1]s", name, sub.name, sub.path())
}

// has reports whether a command has an option.
func (s *session) has(c *command, option string) bool {
	f := s.newFlags(c)
	if c.flags != nil {
		c.flags(f)
	}
	return f.Lookup(option) != nil
}

// commandWith returns the subcommand that is named in the arguments and has an option, or nil.
func (f *flagSet) commandWith(option string, args []string) *command {
	for _, sub := range f.command.commands {
		if slices.Contains(args, sub.name) && f.scratch().has(sub, option) {
			return sub
		}
	}
	return nil
}

// otherCommands says which commands have an option.
func (f *flagSet) otherCommands(option string) string {
	var names []string
	for _, c := range rootCommand().commands {
		if c.name != f.command.name && f.scratch().has(c, option) {
			names = append(names, fmt.Sprintf("%q", c.path()))
		}
	}
	if len(names) == 0 || len(names) > 4 {
		return ""
	}
	return fmt.Sprintf(" It is an option of %s.", strings.Join(names, " and "))
}

// scratch is a session whose options nobody reads.
func (f *flagSet) scratch() *session { return newSession(Streams{}, dependencies{}) }

// rows are the options as help shows them: those of the command, and those of all commands.
func (f *flagSet) rows() (own, global [][2]string) {
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

// stateFlags adds the options of commands that touch the state.
func (f *flagSet) stateFlags() {
	f.StringVar(&f.session.options.state, "state", "", "keep the state in this file: `PATH`")
	f.StringVar(&f.session.options.deployment, "deployment", "", "work on the deployment `NAME` of the stack, which has a state of its own")
}

// lockFlags adds the options of commands that lock the state.
func (f *flagSet) lockFlags() {
	f.stateFlags()
	f.DurationVar(&f.session.options.lockTimeout, "lock-timeout", 0, "wait for `DURATION`, such as 5m, if somebody else has locked the state")
}

// engineFlags adds the options of commands that run the engine.
func (f *flagSet) engineFlags() {
	f.StringVar(&f.session.options.engine, "engine", "", "run this `BINARY` of terraform or tofu")
}

// providerFlags adds the options of commands that run the engine with providers.
func (f *flagSet) providerFlags() {
	f.engineFlags()
	f.Var(&f.session.options.lockfile, "lockfile", "`readonly` makes it an error if .terraform.lock.hcl does not have the providers that are required")
}

// lockfileValue is the option that keeps the provider lock file as it is.
type lockfileValue string

func (v *lockfileValue) String() string { return string(*v) }

// Set implements [flag.Value].
func (v *lockfileValue) Set(value string) error {
	if value != "readonly" {
		return errors.New("the only value is readonly")
	}
	*v = lockfileValue(value)
	return nil
}

func (f *flagSet) jsonFlag(usage string) {
	f.BoolVar(&f.session.options.json, "json", false, usage)
}

// fileValue is an option that names a file, and not nothing.
type fileValue string

func (v *fileValue) String() string { return string(*v) }

// Set implements [flag.Value].
func (v *fileValue) Set(value string) error {
	if value == "" {
		return errors.New("it must name a file")
	}
	*v = fileValue(value)
	return nil
}

// listValue is an option that may be given several times.
type listValue []string

func (l *listValue) String() string { return fmt.Sprint([]string(*l)) }

// Set implements [flag.Value].
func (l *listValue) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// countValue is an option with a number from 1; 0 when it was not given.
type countValue int

func (c *countValue) String() string { return strconv.Itoa(int(*c)) }

// Set implements [flag.Value].
func (c *countValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("must be a whole number from 1")
	}
	*c = countValue(n)
	return nil
}
