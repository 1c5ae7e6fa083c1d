// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/tfengine"
	"github.com/cairnstacks/cairn/internal/tfengine/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// bundleOptions say where the source packages of the stack are.
func bundleOptions() bundle.Options {
	return bundle.Options{StackDir: ".", Dir: filepath.Join(dataDir(), "sources")}
}

// packages returns the prepared source packages.
func (s *session) packages() *bundle.Bundle {
	if s.bundle == nil {
		s.bundle = bundle.Open(bundleOptions())
	}
	return s.bundle
}

// packagePath returns the file that a source address in a diagnostic names.
func (s *session) packagePath(address string) (string, bool) {
	if s.fetcher != nil {
		return s.fetcher.Path(address)
	}
	return s.packages().Path(address)
}

// fetchConfig is loadConfig after all source packages have been fetched.
func (s *session) fetchConfig(ctx context.Context, upgrade bool) (*stackconfig.Config, hcl.Diagnostics) {
	if err := makeWorkDir(dataDir()); err != nil {
		return nil, asDiagnostics(fail("Working directory cannot be used", "The directory for source packages cannot be used: %s.", reason(err)))
	}
	var info engine.Info                                   // which modules are called depends on it
	if found, err := s.findBinary(dataDir()); err == nil { // otherwise prepare reports the error
		info = found.Info
	}
	fetcher, err := bundle.NewFetcher(bundle.FetcherOptions{
		Options: bundleOptions(),
		Upgrade: upgrade,
		Started: func(name string) { s.note("Fetching %s\n", name) },
	})
	if err != nil {
		return nil, asDiagnostics(fail("Source packages cannot be fetched", "%s.", upperFirst(reason(err))))
	}
	s.fetcher = fetcher
	fetcher.Prefetch(ctx)
	for {
		resolver := fetcher.Resolver(ctx)
		config, diags := s.loadConfigWith(resolver)
		if config != nil {
			diags = diags.Extend(resolveModules(config, resolver, info))
		}
		if diags.HasErrors() {
			return config, diags
		}
		if !fetcher.Again() {
			break
		}
	}
	if err := fetcher.Save(); err != nil {
		return nil, asDiagnostics(fail("Source packages cannot be saved", "%s.", upperFirst(reason(err))))
	}
	for _, pkg := range fetcher.Packages() {
		s.stdout("Source: %s\n", describePackage(pkg))
	}
	s.fetcher, s.bundle, s.loaded = nil, nil, nil // they have what was prepared before
	return s.loadConfig()
}

func describePackage(pkg bundle.Package) string {
	text := pkg.Address
	if pkg.Version != "" {
		text += " " + pkg.Version
	}
	if pkg.Commit != "" {
		text += " (commit " + pkg.Commit[:min(len(pkg.Commit), 12)] + ")"
	}
	return text
}

// resolveModules follows the module calls of all components, and returns which sources cannot be used. Other mistakes
// of modules are left to the commands that need them right. Modules for other versions of the engine are said first and alone.
func resolveModules(config *stackconfig.Config, resolver stackconfig.Resolver, info engine.Info) hcl.Diagnostics {
	loader := module.NewLoader(tfengine.LoaderOptions(config.Root.Dir, info, resolver))
	var diags, unsupported hcl.Diagnostics
	for _, dir := range tfengine.ModuleDirs(config) {
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
