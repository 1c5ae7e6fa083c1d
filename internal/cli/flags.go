// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"errors"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
)

// command is a command of cairn, and flagSet its options.
type (
	command = cmdline.Command[*session]
	flagSet = cmdline.Flags[*session]
)

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

// globalFlags adds the options of all commands.
func globalFlags(f *flagSet) {
	options := &f.Session.options
	f.StringVar(&options.chdir, "chdir", options.chdir, "go to `DIR` first; all other paths are relative to it")
	f.BoolVar(&options.noColor, "no-color", options.noColor, "write plain text, also to a terminal")
}

// stateFlags adds the options of commands that touch the state.
func stateFlags(f *flagSet) {
	f.StringVar(&f.Session.options.state, "state", "", "keep the state in this file: `PATH`")
	f.StringVar(&f.Session.options.deployment, "deployment", "", "work on the deployment `NAME` of the stack, which has a state of its own")
}

// lockFlags adds the options of commands that lock the state.
func lockFlags(f *flagSet) {
	stateFlags(f)
	f.DurationVar(&f.Session.options.lockTimeout, "lock-timeout", 0, "wait for `DURATION`, such as 5m, if somebody else has locked the state")
}

// engineFlags adds the options of commands that run the engine.
func engineFlags(f *flagSet) {
	f.StringVar(&f.Session.options.engine, "engine", "", "run this `BINARY` of terraform or tofu")
}

// providerFlags adds the options of commands that run the engine with providers.
func providerFlags(f *flagSet) {
	engineFlags(f)
	f.Var(&f.Session.options.lockfile, "lockfile", "`readonly` makes it an error if .terraform.lock.hcl does not have the providers that are required")
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

func jsonFlag(f *flagSet, usage string) {
	f.BoolVar(&f.Session.options.json, "json", false, usage)
}
