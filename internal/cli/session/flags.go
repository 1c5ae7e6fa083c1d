// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"time"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
)

// command is a command of cairn, and flagSet its options.
type (
	Command = cmdline.Command[*Session]
	Flags   = cmdline.Flags[*Session]
)

// Options are the options of all commands.
type Options struct {
	Chdir       string
	noColor     bool
	state       string
	deployment  string
	Deployments cmdline.List // of commands that may work on several
	Engine      string
	ReadOnly    bool // the provider lock file stays as it is

	lockTimeout time.Duration // how long to wait for somebody else's lock
	JSON        bool          // of the commands that have it
}

// GlobalFlags adds the options of all commands.
func GlobalFlags(f *Flags) {
	options := &f.Session.Options
	f.StringVar(&options.Chdir, "chdir", options.Chdir, "go to `DIR` first; all other paths are relative to it")
	f.BoolVar(&options.noColor, "no-color", options.noColor, "write plain text, also to a terminal")
}

// StateFlags adds the options of commands that touch the state.
func StateFlags(f *Flags) {
	StateFlag(f)
	f.StringVar(&f.Session.Options.deployment, "deployment", "", "work on the deployment `NAME` of the stack, which has a state of its own")
}

// StateFlag adds the option for the place of states.
func StateFlag(f *Flags) {
	f.StringVar(&f.Session.Options.state, "state", "",
		"the state is at `PLACE`: a file, postgres://HOST/DATABASE, or object storage by s3://, gs://, azblob:// or file://")
}

// DeploymentsFlags adds the options of commands that lock the states of one deployment or of
// several.
func DeploymentsFlags(f *Flags) {
	StateFlag(f)
	f.Var(&f.Session.Options.Deployments, "deployment",
		"work on this deployment of the stack: `NAME`, or a pattern such as prod-*; may be repeated")
	lockTimeoutFlag(f)
}

// LockFlags adds the options of commands that lock the state.
func LockFlags(f *Flags) {
	StateFlags(f)
	lockTimeoutFlag(f)
}

func lockTimeoutFlag(f *Flags) {
	f.DurationVar(&f.Session.Options.lockTimeout, "lock-timeout", 0, "wait for `DURATION`, such as 5m, if somebody else has locked the state")
}

// EngineFlags adds the options of commands that run the engine.
func EngineFlags(f *Flags) {
	f.StringVar(&f.Session.Options.Engine, "engine", "",
		"run this `BINARY` of terraform or tofu, or the engine native, auto (the usual choice) or binary (any of both)")
}

// ProviderFlags adds the options of commands that run the engine with providers.
func ProviderFlags(f *Flags) {
	EngineFlags(f)
	f.Only(&f.Session.Options.ReadOnly, "lockfile", "readonly",
		"`readonly` makes it an error if .terraform.lock.hcl does not have the providers that are required")
}

func JSONFlag(f *Flags, usage string) {
	f.BoolVar(&f.Session.Options.JSON, "json", false, usage)
}
