// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package env has the surroundings of operations on one stack: its directory and its working
// directory, the environment, the settings file, and the places for notices and logs.
//
// Rules:
//
//   - E1. An [Env] is never changed. The settings file is read once, by the first that asks for it,
//     and so are keys.
//   - E2. Paths that the environment or a setting names are relative to the home of the stack, as
//     for a program that is run there.
package env

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/operation/workdir"
	"github.com/cairnstacks/cairn/internal/settings"
)

// The environment variables that beat the settings file, where an option does not.
const (
	StateVariable      = "CAIRN_STATE"
	DeploymentVariable = "CAIRN_DEPLOYMENT"

	// DataVariable names a directory in place of [WorkDir]. No setting of a checkout does: where files
	// go, and from where runs are recovered, is for the user to say.
	DataVariable = workdir.Variable
)

// WorkDir holds the files that are kept between operations, next to the stack unless [DataVariable]
// names another place.
const WorkDir = ".cairn"

// Options are the surroundings. A zero value stands for that of the environment, of the settings
// file of the stack, or for the default.
type Options struct {
	Dir string // of the stack; the current directory if empty
	// Home is the place of the stack if Dir has a copy of its configuration: its state and [WorkDir]
	// are there. Empty stands for Dir.
	Home       string
	WorkDir    string // for this stack alone
	State      string // location: a path, or a URL
	Deployment string

	// Environ is the environment of the operation, and of the programs that it starts; nil stands for
	// that of this program. Paths in it are relative to the directory of the stack, as for a program
	// that is run there.
	Environ []string

	// Workspace is the directory of the workspace file that says where upstream stacks are kept. Empty
	// stands for the top of the repository in which the stack is.
	Workspace string

	Notify notice.Func
	Log    *slog.Logger // names, addresses and processes; never values

	// Files receives the sources that diagnostics are about, by their names. Nil makes a new map.
	Files map[string]*hcl.File
}

// Env is what Options say, completed. The fields are read only.
type Env struct {
	Options // of which no directory, and neither Environ, Log nor Files is a zero value

	settings func() (settings.Settings, hcl.Diagnostics)
	keys     func() (*encryption.Keyring, error)
}

// Open returns the surroundings. Nothing is read yet.
func Open(opts Options) *Env {
	opts.Dir = cmp.Or(opts.Dir, ".")
	opts.Home = cmp.Or(opts.Home, opts.Dir)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	if opts.Files == nil {
		opts.Files = map[string]*hcl.File{}
	}
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	opts.Environ = cliconfig.AbsolutePaths(opts.Environ, Absolute(opts.Home))
	e := &Env{Options: opts}
	e.WorkDir = cmp.Or(opts.WorkDir, e.dataDir())
	e.settings = sync.OnceValues(func() (settings.Settings, hcl.Diagnostics) { return settings.Read(e.Dir, e.Files) })
	e.keys = sync.OnceValues(e.openKeys)
	return e
}

// OpenLike is [Open] with the settings and files of other surroundings of the same stack, which are
// used by nobody any more.
func OpenLike(opts Options, like *Env) *Env {
	like.settings() //nolint:errcheck // It fills Files; its mistakes are those of each later call.
	e := Open(opts)
	e.settings = like.settings
	if slices.Equal(e.Environ, like.Environ) { // which may have keys
		e.keys = like.keys
	}
	maps.Copy(e.Files, like.Files)
	return e
}

// For returns the same surroundings of an operation on another deployment of the stack.
func (e *Env) For(deployment string) *Env {
	other := *e
	other.Deployment = deployment
	return &other
}

// Settings returns the settings of the stack.
func (e *Env) Settings() (settings.Settings, error) {
	read, diags := e.settings()
	if diags.HasErrors() {
		return settings.Settings{}, diags
	}
	return read, nil
}

// Keys returns the keys of what is kept for the stack. No key is looked for yet.
func (e *Env) Keys() (*encryption.Keyring, error) { return e.keys() }

func (e *Env) openKeys() (*encryption.Keyring, error) {
	read, err := e.Settings()
	if err != nil {
		return nil, err
	}
	return encryption.Open(read.Encryption, e.Environ, e.Home)
}

// IsCopy reports whether the directory has a copy of the configuration of the stack.
func (e *Env) IsCopy() bool { return e.Home != e.Dir }

// Getenv returns a variable of the environment of the operation.
func (e *Env) Getenv(name string) string { return environ.Get(e.Environ, name) }

// NamedDeployment returns the name of the deployment that was given; empty if there was none.
func (e *Env) NamedDeployment() string { return cmp.Or(e.Deployment, e.Getenv(DeploymentVariable)) }

// Join makes a path of one that is relative to the stack.
func (e *Env) Join(path string) string { return within(e.Dir, path) }

// FromHome makes a path of one that is relative to the stack, and is no part of its configuration.
func (e *Env) FromHome(path string) string { return within(e.Home, path) }

// FromEnviron makes a path of one that the environment or a setting names. In the current directory
// it stays as the user has written it.
func (e *Env) FromEnviron(path string) string {
	if e.Home == "." {
		return path
	}
	return e.FromHome(path)
}

// WorkspaceDir is where a workspace file may say where upstream stacks are kept; "" if the stack is
// in no repository.
func (e *Env) WorkspaceDir() string {
	if e.Workspace != "" {
		return e.Workspace
	}
	for at := Absolute(e.Dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// Original returns the directory of which there is a copy in that of the stack; "" for none.
func (e *Env) Original() string {
	if e.IsCopy() {
		return e.Home
	}
	return ""
}

// OriginalOf returns the place that one next to a copy of the stack stands for.
func (e *Env) OriginalOf(path string) string {
	rel, err := filepath.Rel(Absolute(e.Dir), path)
	if !e.IsCopy() || err != nil {
		return path
	}
	return filepath.Join(Absolute(e.Home), rel)
}

// WaitingPlan is where the plan of a deployment is saved that waits for approval.
func (e *Env) WaitingPlan(deployment string) string {
	return filepath.Join(e.WorkDir, "waiting", deployment+".plan")
}

// WithoutOwn returns the environment for another stack, which the variables about this one do not
// count for.
func (e *Env) WithoutOwn() []string {
	var others []string
	for _, variable := range e.Environ {
		if !strings.HasPrefix(variable, StateVariable+"=") && !strings.HasPrefix(variable, DeploymentVariable+"=") {
			others = append(others, variable)
		}
	}
	return others
}

// dataDir is the working directory of the stack. Below the one that the user names, each stack has
// its own, whatever else is run with that variable.
func (e *Env) dataDir() string {
	dir := e.Getenv(DataVariable)
	if dir == "" {
		return filepath.Join(e.Home, WorkDir)
	}
	dir = e.FromEnviron(dir)
	stack := Absolute(e.Home)
	if resolved, err := filepath.EvalSymlinks(stack); err == nil {
		stack = resolved
	}
	sum := sha256.Sum256([]byte(stack))
	return filepath.Join(dir, fmt.Sprintf("%s-%x", filepath.Base(stack), sum[:6]))
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Absolute makes a path absolute, if the working directory is known.
func Absolute(path string) string {
	if made, err := filepath.Abs(path); err == nil {
		return made
	}
	return path
}
