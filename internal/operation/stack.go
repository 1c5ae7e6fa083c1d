// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/declared"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Stack is a stack as one operation uses it, with the parts that were opened so far.
type Stack struct {
	opts Options
	dir  string // of the stack
	work string // working directory
	log  *slog.Logger

	environ []string

	settings *settings.Settings
	loaded   *loadedConfig
	bundle   *bundle.Bundle  // nil until source packages are needed
	fetcher  *bundle.Fetcher // set while they are fetched

	engines     *engines.Stack
	session     engine.Session
	parallelism int // that the operation asks for; 0 leaves it to the settings

	fetched    *fetched               // inputs of the deployment, until they are used
	taken      map[string]cty.Value   // published values of other stacks that the latest operation has used
	declared   *declared.Files        // nil until deployment files are read
	store      statestore.Store       // nil until it is open
	deployment *deployment.Deployment // nil until its state is needed

	recovered      []*engine.Recovered // saved, until it is acknowledged
	acceptRecovery bool                // with its doubts
	runs           string              // directory in which applies are recorded until they are saved
	recorded       string              // name of the record of an apply that the locked state knows of; "" for none
}

// loadedConfig is the configuration with its diagnostics.
type loadedConfig struct {
	config *stackconfig.Config
	diags  hcl.Diagnostics
}

// Open returns a stack of which nothing was read yet. The caller closes it.
func Open(opts Options) *Stack {
	if opts.Files == nil {
		opts.Files = map[string]*hcl.File{}
	}
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	if opts.Shared == nil {
		opts.Shared = &Shared{}
	}
	s := &Stack{
		opts: opts,
		dir:  cmp.Or(opts.Dir, "."),
		log:  cmp.Or(opts.Log, slog.New(slog.DiscardHandler)),
	}
	s.environ = cliconfig.AbsolutePaths(opts.Environ, absolute(s.home()))
	s.work = cmp.Or(opts.WorkDir, s.dataDir())
	s.engines = s.newEngines()
	if like := opts.Like; like != nil {
		s.loaded, s.declared, s.settings = like.loaded, like.declared, like.settings
		if like.fetched != nil {
			s.fetched, like.fetched = like.fetched, nil // which is good for one operation
		}
		maps.Copy(s.opts.Files, like.opts.Files)
	}
	return s
}

// Close releases the opened parts. All that matters was saved before.
func (s *Stack) Close() error {
	var errs []error
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	if s.session != nil {
		errs = append(errs, s.session.Close())
	}
	return errors.Join(errs...)
}

// EngineInfo names the engine if it was opened.
func (s *Stack) EngineInfo() (info engine.Info, opened bool) {
	if s.session == nil {
		return engine.Info{}, false
	}
	return s.session.Info(), true
}

// Files are the sources of diagnostics, by the names in their ranges.
func (s *Stack) Files() map[string]*hcl.File { return s.opts.Files }

// Path returns the file that a name in a diagnostic means.
func (s *Stack) Path(name string) string {
	if path, ok := s.packagePath(name); ok {
		return path
	}
	return s.join(filepath.FromSlash(name))
}

// join makes a path of one that is relative to the stack.
func (s *Stack) join(path string) string { return within(s.dir, path) }

// home is where the stack belongs, which need not exist any more.
func (s *Stack) home() string { return cmp.Or(s.opts.Home, s.dir) }

// fromHome makes a path of one that is relative to the stack, and is no part of its configuration.
func (s *Stack) fromHome(path string) string { return within(s.home(), path) }

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Settings returns the settings of the stack.
func (s *Stack) Settings() (settings.Settings, error) {
	if s.settings == nil {
		read, diags := settings.Read(s.dir, s.opts.Files)
		if diags.HasErrors() {
			return settings.Settings{}, diags
		}
		s.settings = &read
	}
	return *s.settings, nil
}

// config returns the configuration. With errors it may be nil, or hold the readable part.
func (s *Stack) config() (*stackconfig.Config, hcl.Diagnostics) {
	if s.loaded == nil {
		return s.loadWith(s.Resolver())
	}
	return s.loaded.config, s.loaded.diags
}

// loadWith loads the configuration, also if it was loaded before.
func (s *Stack) loadWith(resolver stackconfig.Resolver) (*stackconfig.Config, hcl.Diagnostics) {
	config, diags := stackconfig.LoadWith(s.dir, stackconfig.LoadOptions{Resolver: resolver})
	if config != nil {
		for name, file := range config.Files {
			s.opts.Files[name] = file
		}
		if s.opts.Resolver == nil {
			diags = diags.Extend(s.checkPlace(config, diags))
		}
	}
	s.loaded = &loadedConfig{config, diags}
	return s.loaded.config, s.loaded.diags
}

// checkPlace reports a directory without configuration, of which only a user has said that it is
// that of a stack.
func (s *Stack) checkPlace(config *stackconfig.Config, diags hcl.Diagnostics) hcl.Diagnostics {
	if len(config.Files) > 0 || diags.HasErrors() {
		return nil
	}
	return hcl.Diagnostics{noConfiguration(absolute(s.dir))}
}

// noConfiguration says that a directory is none of a stack, but perhaps in one.
func noConfiguration(dir string) *hcl.Diagnostic {
	remedy, code := "Go to the directory of a stack.", CodeNoStack
	if above := stackAbove(dir); above != "" {
		remedy, code = fmt.Sprintf("The stack that this directory belongs to may be the one in %s: go there.", above), CodeStackAbove
	}
	return failure.WithCode(code, failure.New("No configuration files",
		"There are no .tfcomponent.hcl or .tfcomponent.json files in %s. %s", dir, remedy))
}

// stackAbove returns the nearest parent of a directory that has a stack, or "".
func stackAbove(dir string) string {
	for above := filepath.Dir(dir); above != dir; dir, above = above, filepath.Dir(above) {
		if len(filesBeside(above, stackconfig.IsComponentFile)) > 0 {
			return above
		}
	}
	return ""
}

// filesBeside returns the names of files in a directory that are of a kind, sorted. One that cannot
// be read has none.
func filesBeside(dir string, isOfKind func(name string) bool) []string {
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
