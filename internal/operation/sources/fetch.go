// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package sources

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/operation/workdir"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// FetchRequest says how source packages are fetched.
type FetchRequest struct {
	Upgrade bool // to the newest versions that are allowed

	Reader engine.Info // as which modules are read: the modules that they call depend on it
}

// Fetch is [Sources.Config], called after all source packages have been fetched. It returns those,
// too.
func (s *Sources) Fetch(ctx context.Context, req FetchRequest) (*stackconfig.Config, []bundle.Package, hcl.Diagnostics) {
	if err := workdir.Make(s.env.WorkDir); err != nil {
		return nil, nil, s.unusableWorkDir(err)
	}
	fetcher, err := bundle.NewFetcher(bundle.FetcherOptions{
		Options: s.bundleOptions(),
		Upgrade: req.Upgrade,
		Shared:  &s.opts.Shared.packages,
		Started: func(name string) { s.env.Notify.Send(notice.Fetching{Name: name}) },
	})
	if err != nil {
		return nil, nil, hcl.Diagnostics{failure.Of("Source package download failed", err)}
	}
	s.read.fetcher = fetcher
	fetcher.Prefetch(ctx)
	for {
		resolver := fetcher.Resolver(ctx)
		s.load(resolver)
		config, diags := s.read.config, s.read.diags
		if config != nil {
			diags = diags.Extend(s.resolveModules(config, resolver, req))
		}
		if diags.HasErrors() {
			return config, nil, diags.Extend(notSaved(fetcher.Keep(filesOf(diags))))
		}
		if !fetcher.Again() {
			break
		}
	}
	if err := fetcher.Save(); err != nil {
		return nil, nil, notSaved(err)
	}
	packages := fetcher.Packages()
	s.read.fetcher, s.read.bundle, s.read.loaded = nil, nil, false // they have the old packages
	config, diags := s.Config()
	return config, packages, diags
}

// filesOf returns the names of the files that errors are about.
func filesOf(diags hcl.Diagnostics) []string {
	var names []string
	for _, diag := range diags {
		if diag.Severity == hcl.DiagError && diag.Subject != nil {
			names = append(names, diag.Subject.Filename)
		}
	}
	return names
}

func notSaved(err error) hcl.Diagnostics {
	if err == nil {
		return nil
	}
	return hcl.Diagnostics{failure.Of("Source packages not saved", err)}
}

// resolveModules follows the module calls of all components, and returns which sources cannot be
// used. Other mistakes of modules are left to the commands that need them right. Modules for other
// versions of the engine are said first and alone.
func (s *Sources) resolveModules(config *stackconfig.Config, resolver stackconfig.Resolver, req FetchRequest) hcl.Diagnostics {
	loader := s.Loader(req.Reader, config, resolver)
	var diags, unsupported hcl.Diagnostics
	for _, dir := range config.ModuleDirs() {
		tree, moreDiags := loader.Load(dir)
		if tree != nil {
			unsupported = unsupported.Extend(tree.Unsupported)
		}
		for _, diag := range moreDiags {
			if diag.Severity == hcl.DiagError && diag.Subject != nil {
				diags = diags.Append(diag)
			}
		}
	}
	if unsupported.HasErrors() {
		return unsupported
	}
	return diags
}

// Loader returns a reader of the modules of a stack as an engine reads them.
func (s *Sources) Loader(reader engine.Info, config *stackconfig.Config, resolver stackconfig.Resolver) *module.Loader {
	opts := module.OptionsOf(reader, config.Root.Dir, resolver).Of(config)
	opts.Files = s.opts.Modules
	return module.NewLoader(opts)
}
