// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package sources has the files of one stack: its configuration with the source packages that it
// takes from elsewhere, and its deployment files.
//
// Rules:
//
//   - F1. Files are read when they are first asked for, and once, but for [Sources.Fetch]: after it
//     the configuration is that with the fetched packages.
//   - F2. Mistakes are returned with the readable part.
package sources

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/operation/declared"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Shared is the cache of the files of several stacks in one process. The zero value is empty. It is
// safe for concurrent use.
type Shared struct {
	packages    bundle.Shared
	deployments declared.Known
}

// Sources are the files of a stack. They are used by one goroutine at a time.
type Sources struct {
	env  *env.Env
	opts Options
	read *read
}

// Options say how files are found.
type Options struct {
	// Resolver finds the sources of the stack that are not local, and diagnostics name files as it
	// does. Nil stands for the packages that were fetched for the stack, as its lock file says. With a
	// resolver, the caller knows where stacks are: a directory without configuration is one without
	// anything in it, and its other contents, such as deployments, are its own concern.
	Resolver stackconfig.Resolver

	// Like are sources in the same directory that are used by nobody any more: contents that they have
	// read count for these, too. Several deployments of a stack have its configuration in common by
	// them. Nil for none.
	Like *Sources

	Shared  *Shared
	Modules *module.Files // files of modules that were parsed
}

// read has the contents of the files that were read.
type read struct {
	config *stackconfig.Config
	diags  hcl.Diagnostics
	loaded bool
	files  *declared.Files // nil until deployment files are read
	bundle *bundle.Bundle  // nil until source packages are needed

	constants func() map[string]map[string]stackconfig.Constant // of the configuration, once it is loaded
	fetcher   *bundle.Fetcher                                   // set while they are fetched
}

// Open returns the files of a stack. Nothing is read yet.
func Open(e *env.Env, opts Options) *Sources {
	s := &Sources{env: e, opts: opts, read: &read{}}
	if like := opts.Like; like != nil {
		s.read.config, s.read.diags, s.read.loaded, s.read.files = like.read.config, like.read.diags, like.read.loaded, like.read.files
		s.read.constants = like.read.constants
	}
	return s
}

// For returns the same files for an operation on another deployment.
func (s *Sources) For(e *env.Env) *Sources {
	other := *s
	other.env = e
	return &other
}

// Config returns the configuration. With errors it may be nil, or hold the readable part.
func (s *Sources) Config() (*stackconfig.Config, hcl.Diagnostics) {
	if !s.read.loaded {
		s.load(s.Resolver())
	}
	return s.read.config, s.read.diags
}

// load loads the configuration, also if it was loaded before.
func (s *Sources) load(resolver stackconfig.Resolver) {
	config, diags := stackconfig.LoadWith(s.env.Dir, stackconfig.LoadOptions{Resolver: resolver})
	if config != nil {
		maps.Copy(s.env.Files, config.Files)
		if s.opts.Resolver == nil {
			diags = diags.Extend(s.checkPlace(config, diags))
		}
	}
	s.read.config, s.read.diags, s.read.loaded = config, diags, true
	s.read.constants = sync.OnceValue(func() map[string]map[string]stackconfig.Constant {
		if config == nil {
			return nil
		}
		return config.Constants()
	})
}

// Constants returns the arguments that components give to the module in a directory, as far as they
// are constants. It is safe for concurrent use once the configuration is loaded.
func (s *Sources) Constants(dir string) map[string]stackconfig.Constant {
	s.Config() //nolint:errcheck // whoever plans reports them
	return s.read.constants()[dir]
}

// checkPlace reports a directory without configuration, of which only a user has said that it is
// that of a stack.
func (s *Sources) checkPlace(config *stackconfig.Config, diags hcl.Diagnostics) hcl.Diagnostics {
	if len(config.Files) > 0 || diags.HasErrors() {
		return nil
	}
	dir := env.Absolute(s.env.Dir)
	remedy, code := "Go to the directory of a stack.", CodeNoStack
	if above := stackAbove(dir); above != "" {
		remedy, code = fmt.Sprintf("The stack that this directory belongs to may be the one in %s: go there.", above), CodeStackAbove
	}
	return hcl.Diagnostics{failure.With(code, failure.New("No configuration files",
		"There are no .tfcomponent.hcl or .tfcomponent.json files in %s. %s", dir, remedy))}
}

// stackAbove returns the nearest parent of a directory that has a stack, or "".
func stackAbove(dir string) string {
	for above := filepath.Dir(dir); above != dir; dir, above = above, filepath.Dir(above) {
		if HasConfiguration(above) {
			return above
		}
	}
	return ""
}

// HasConfiguration reports whether a directory is that of a stack.
func HasConfiguration(dir string) bool { return len(Beside(dir, stackconfig.IsComponentFile)) > 0 }

// Beside returns the names of files in a directory that are of a kind, sorted. One that cannot be
// read has none.
func Beside(dir string, isOfKind func(name string) bool) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // work in the directory reports it
	}
	var names []string
	for _, entry := range entries {
		if !entry.IsDir() && isOfKind(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names
}

// The codes of directories without a stack.
const (
	CodeNoStack    fault.Code = "operation/no-stack"
	CodeStackAbove fault.Code = "operation/stack-above" // there is one in a directory above
)

// Resolver finds sources that are not local.
func (s *Sources) Resolver() stackconfig.Resolver {
	if s.opts.Resolver != nil {
		return s.opts.Resolver
	}
	if s.read.bundle == nil {
		s.read.bundle = bundle.Open(s.bundleOptions())
	}
	return s.read.bundle
}

// bundleOptions say where the source packages of the stack are.
func (s *Sources) bundleOptions() bundle.Options {
	return bundle.Options{StackDir: s.env.Dir, Dir: filepath.Join(s.env.WorkDir, "sources"), Environ: s.env.Environ}
}

// Path returns the file that a name in a diagnostic means.
func (s *Sources) Path(name string) string {
	var reader interface {
		Path(address string) (path string, ok bool) // of a resolver that knows the files of its addresses
	}
	if s.read.fetcher != nil {
		reader = s.read.fetcher
	} else {
		reader, _ = s.Resolver().(interface{ Path(string) (string, bool) })
	}
	if reader != nil {
		if path, ok := reader.Path(name); ok {
			return path
		}
	}
	return s.env.Join(filepath.FromSlash(name))
}
