// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolchain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// CodeNotInstalled is of a binary that is needed and not there. Its names are the programs that
// would do, each with a space and a constraint for its version, or without; none for any of them.
const CodeNotInstalled fault.Code = "engine/not-installed"

// ErrNone says that there is neither tofu nor terraform.
var ErrNone = fault.Error(errors.New(`neither "tofu" nor "terraform" was found in PATH; install OpenTofu `+
	`(https://opentofu.org/docs/intro/install) or Terraform (https://developer.hashicorp.com/terraform/install), `+
	`or name the path of a binary in cairn.hcl or CAIRN_ENGINE`), CodeNotInstalled)

// NotFoundError says that a setting leads to no binary.
type NotFoundError struct {
	Setting string
}

func (e *NotFoundError) Error() string {
	if e.Setting == Tofu || e.Setting == Terraform {
		return fmt.Sprintf("the engine's binary %q was not found in PATH, and no version of it is installed; "+
			"install one, correct the setting, or remove it to use either of tofu and terraform", e.Setting)
	}
	return fmt.Sprintf("the engine's binary %q was not found, or is not executable; correct the setting, "+
		"or remove it to use tofu or terraform from PATH", e.Setting)
}

// Fault is that of a program that could be installed; none for others.
func (e *NotFoundError) Fault() fault.Named {
	if e.Setting == Tofu || e.Setting == Terraform {
		return fault.Named{Code: CodeNotInstalled, Names: []string{e.Setting}}
	}
	return fault.Named{}
}

// Origin says how a binary was found.
type Origin string

// The origins.
const (
	FromSetting Origin = "setting"
	FromPath    Origin = "path"
	Installed   Origin = "installed"
)

// Candidate is a binary that was found.
type Candidate struct {
	Path   string
	Origin Origin
	Info   engine.Info // zero if it could not be identified

	// Err says why the binary cannot be used: a [*TooOldError], an [*UnacceptedError], or that it is
	// not an engine. Nil if it can.
	Err error

	// Unmet are the advisory requirements that do not accept the binary.
	Unmet []*UnacceptedError
}

// broken reports whether the binary is none of an engine.
func (c *Candidate) broken() bool { return c.Err != nil && c.Info.Name == "" }

// UnusableError says that binaries were found, and none of them can be used.
type UnusableError struct {
	Candidates []*Candidate
}

func (e *UnusableError) Error() string {
	reasons := make([]string, len(e.Candidates))
	for i, c := range e.Candidates {
		reasons[i] = c.Err.Error()
	}
	return strings.Join(reasons, ". ")
}

// Unwrap returns the reasons.
func (e *UnusableError) Unwrap() []error {
	reasons := make([]error, len(e.Candidates))
	for i, c := range e.Candidates {
		reasons[i] = c.Err
	}
	return reasons
}

// Search says which binary is wanted.
type Search struct {
	Setting      string // path or name of a binary; empty if any will do
	Requirements []Requirement
	Home         string // see [Home]; empty if nothing is installed
	Identifier   Identifier
}

// Find returns the binary to use.
//
// Errors: [ErrNone], a [*NotFoundError], an [*UnusableError], or why a binary could not be
// identified.
func (s Search) Find(ctx context.Context) (*Candidate, error) {
	var choice choice
	for c, err := range s.candidates(ctx) {
		if err != nil {
			return nil, err
		}
		if choice.look(c); choice.ended {
			break
		}
	}
	switch {
	case choice.best != nil:
		return choice.best, nil
	case choice.broken != nil:
		return nil, choice.broken.Err
	case len(choice.rejected) > 0:
		return nil, &UnusableError{choice.rejected}
	}
	if s.Setting != "" {
		return nil, &NotFoundError{s.Setting}
	}
	return nil, ErrNone
}

// All returns every binary that was found, in the order in which they are looked at. The one that
// [Search.Find] returns is chosen; it is nil if there is none.
func (s Search) All(ctx context.Context) (all []*Candidate, chosen *Candidate, err error) {
	var choice choice
	for c, err := range s.candidates(ctx) {
		if err != nil {
			return nil, nil, err
		}
		all = append(all, c)
		choice.look(c)
	}
	return all, choice.best, nil
}

// choice is the progress of a search that looks at candidates in their order.
type choice struct {
	best     *Candidate // nil until there is one that can be used
	rejected []*Candidate
	broken   *Candidate // that ended the search (rule 2)
	ended    bool       // the following candidates make no difference
}

func (s *choice) look(c *Candidate) {
	switch {
	case s.ended:
	case c.broken():
		s.broken, s.ended = c, true
	case c.Err != nil:
		s.rejected = append(s.rejected, c)
	case len(c.Unmet) == 0:
		s.best, s.ended = c, true
	case s.best == nil:
		s.best = c
	}
}

// candidates yields the binaries in their order (rule 1). It ends with the first error.
func (s Search) candidates(ctx context.Context) iter.Seq2[*Candidate, error] {
	return func(yield func(*Candidate, error) bool) {
		seen := map[string]bool{}
		offer := func(path string, origin Origin) bool {
			if seen[path] {
				return true
			}
			seen[path] = true
			c := &Candidate{Path: path, Origin: origin}
			c.Info, c.Err = s.Identifier.Identify(ctx, path)
			if ctx.Err() != nil {
				return yield(nil, context.Cause(ctx))
			}
			if c.Err == nil {
				c.check(s.Requirements)
			}
			return yield(c, nil)
		}
		programs := []string{Tofu, Terraform}
		if s.Setting != "" {
			programs = []string{s.Setting}
		}
		origin := FromPath
		if s.Setting != "" && s.Setting != Tofu && s.Setting != Terraform {
			origin = FromSetting
		}
		for _, program := range programs {
			path, found, err := lookPath(program, s.Identifier.Environ)
			if err != nil {
				yield(nil, err)
				return
			}
			if found && !offer(path, origin) {
				return
			}
		}
		for _, path := range s.installed(programs) {
			if !offer(path, Installed) {
				return
			}
		}
	}
}

func lookPath(name string, env []string) (path string, found bool, err error) {
	path, err = lookPathIn(name, env)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", false, nil
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", false, fmt.Errorf("finding the engine's binary: %w", err)
	}
	return path, true, nil
}

// lookPathIn is [exec.LookPath] with the PATH of an environment.
func lookPathIn(name string, env []string) (string, error) {
	path, given := environ.LookUp(env, "PATH")
	if !given || path == os.Getenv("PATH") || strings.ContainsRune(name, filepath.Separator) {
		return exec.LookPath(name)
	}
	for _, dir := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(found) {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}

// installed returns the paths of the installed binaries of some programs, in the order of the
// programs.
func (s Search) installed(programs []string) []string {
	if s.Home == "" {
		return nil
	}
	var paths []string
	for _, program := range programs {
		if !slices.Contains([]string{Tofu, Terraform}, program) {
			continue
		}
		for _, binary := range installed(s.Home, program) {
			paths = append(paths, binary.path)
		}
	}
	return paths
}
