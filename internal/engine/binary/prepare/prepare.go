// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package prepare installs the providers of modules that terraform or tofu evaluates, by their
// init, and stands in for init with each module: init's work is shared by all components of a
// stack, and by stacks with the same requirements.
//
// Lock file and packages are where the native engine has them, too (see package installation).
package prepare

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/cairnstacks/cairn/internal/engine/binary/command"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Options are the parameters of [New].
type Options struct {
	Info     engine.Info     // of the binary
	Binary   *command.Binary // nil where nothing is to be installed
	StackDir string          // absolute
	WorkDir  string          // absolute
	Shared   *Shared
	Working  func(what string) // called before providers are installed
	Log      *slog.Logger
}

// Preparer knows the installation of one stack. Made by [New]. Safe for concurrent use.
type Preparer struct {
	opts  Options
	paths Paths
	given bool // the packages are those of [Preparer.Give], and the lock file of the installation is in the place of that of the stack

	mu struct {
		sync.Mutex
		data map[string]func() (string, error) // makes a directory once, by its name
	}
}

// Paths is where init has installed providers.
type Paths struct {
	Lock      string // file that has their versions and checksums
	Providers string // directory of their packages
	Hashes    string // file that remembers the hashes of packages
}

// New returns the preparer of a stack.
func New(opts Options) *Preparer {
	dir := install.In(opts.WorkDir)
	p := &Preparer{opts: opts, paths: Paths{Lock: dir.LockFile(), Providers: dir.Providers(), Hashes: dir.HashesFile()}}
	p.mu.data = map[string]func() (string, error){}
	return p
}

// LookIn has packages looked for where somebody else has run init. It is called before anything
// else.
func (p *Preparer) LookIn(paths Paths) { p.paths = paths }

// Hashes returns the hash of each package by its path, and none of packages that cannot be read.
func (p *Preparer) Hashes(ctx context.Context, packages []install.Package) map[string]string {
	return p.opts.Shared.hashes.Remembered(ctx, p.paths.Hashes, packages)
}

// RememberedHashes returns the hashes of packages that are as they were when they were last hashed,
// by path.
func (p *Preparer) RememberedHashes(packages []install.Package) map[string]string {
	known := install.Records(p.paths.Hashes)
	hashes := map[string]string{}
	for _, one := range packages {
		if now, err := install.Fingerprint(one.Dir); err == nil && known[one.Path].Fingerprint == now {
			hashes[one.Path] = known[one.Path].Hash
		}
	}
	return hashes
}

// absolute returns a path that is relative to the working directory.
func (p *Preparer) absolute(parts ...string) string {
	return filepath.Join(append([]string{p.opts.WorkDir}, parts...)...)
}
