// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/operation/workdir"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// bundleOptions say where the source packages of the stack are.
func (s *Stack) bundleOptions() bundle.Options {
	return bundle.Options{StackDir: s.dir, Dir: filepath.Join(s.work, "sources"), Environ: s.environ}
}

// packages returns the prepared source packages.
func (s *Stack) packages() *bundle.Bundle {
	if s.bundle == nil {
		s.bundle = bundle.Open(s.bundleOptions())
	}
	return s.bundle
}

// Resolver finds sources that are not local.
func (s *Stack) Resolver() stackconfig.Resolver {
	if s.opts.Resolver != nil {
		return s.opts.Resolver
	}
	return s.packages()
}

// addressReader is a resolver that knows the files of its addresses.
type addressReader interface {
	Path(address string) (path string, ok bool)
}

// packagePath returns the file that a source address in a diagnostic names.
func (s *Stack) packagePath(address string) (string, bool) {
	if s.fetcher != nil {
		return s.fetcher.Path(address)
	}
	reader, ok := s.Resolver().(addressReader)
	if !ok {
		return "", false
	}
	return reader.Path(address)
}

// fetch is config, called after all source packages have been fetched. It returns those, too.
func (s *Stack) fetch(ctx context.Context, upgrade bool) (*stackconfig.Config, []bundle.Package, hcl.Diagnostics) {
	if err := workdir.Make(s.work); err != nil {
		return nil, nil, s.unusableWorkDir(err)
	}
	info := s.engines.Reader(ctx) // which modules are called depends on it
	fetcher, err := bundle.NewFetcher(bundle.FetcherOptions{
		Options: s.bundleOptions(),
		Upgrade: upgrade,
		Shared:  &s.opts.Shared.sources,
		Started: func(name string) { s.opts.Notify.Send(notice.Fetching{Name: name}) },
	})
	if err != nil {
		return nil, nil, failure.Diagnostics(failure.Error("Source package download failed", "%s.", failure.Capitalize(failure.Reason(err))))
	}
	s.fetcher = fetcher
	fetcher.Prefetch(ctx)
	for {
		resolver := fetcher.Resolver(ctx)
		config, diags := s.loadWith(resolver)
		if config != nil {
			diags = diags.Extend(s.resolveModules(config, resolver, info))
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
	s.fetcher, s.bundle, s.loaded = nil, nil, nil // they have the old packages
	config, diags := s.config()
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
	return failure.Diagnostics(failure.Error("Source packages not saved", "%s.", failure.Capitalize(failure.Reason(err))))
}

// resolveModules follows the module calls of all components, and returns which sources cannot be
// used. Other mistakes of modules are left to the commands that need them right. Modules for other
// versions of the engine are said first and alone.
func (s *Stack) resolveModules(config *stackconfig.Config, resolver stackconfig.Resolver, info engine.Info) hcl.Diagnostics {
	opts := module.OptionsOf(info, config.Root.Dir, resolver)
	opts.Files = &s.opts.Shared.engines.Binary.Modules
	loader := module.NewLoader(opts)
	if s.engines.Kind() == engines.Auto && info.Name == engines.Native {
		isForTofu := func(dir string) bool { return loader.TofuFile(dir) != "" }
		if slices.ContainsFunc(config.ModuleDirs(), isForTofu) {
			return s.resolveModules(config, resolver, engine.Info{Name: toolchain.Tofu})
		}
	}
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
