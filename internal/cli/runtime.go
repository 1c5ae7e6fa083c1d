// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/tfengine"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// providerLockFile is where the versions of providers are kept, beside the stack.
const providerLockFile = ".terraform.lock.hcl"

// prepare installs what the configuration needs and returns what the runtime is to be run with. With errors, that is
// only the configuration.
func (s *session) prepare(ctx context.Context, config *stackconfig.Config, upgrade bool) (stackruntime.Options, hcl.Diagnostics) {
	opts := stackruntime.Options{Config: config}
	opened, err := s.openEngine()
	if err != nil {
		return opts, asDiagnostics(err)
	}
	diags := s.engineWarnings
	s.engineWarnings = nil
	var locked []tfengine.LockChange
	diags = diags.Extend(opened.Prepare(ctx, tfengine.PrepareRequest{
		Modules:      tfengine.ModuleDirs(config),
		Requirements: tfengine.Requirements(config),
		Ranges:       tfengine.RequirementRanges(config),
		Upgrade:      upgrade,
		ReadOnlyLock: s.options.lockfile != "",
		Locked:       func(changes []tfengine.LockChange) { locked = changes },
	}))
	diags = diags.Extend(s.lockChanged(locked))
	if diags.HasErrors() {
		return opts, diags
	}
	locks, err := opened.Locks()
	if err != nil {
		return opts, diags.Append(problem("Unreadable provider lock file",
			"%s. Correct the file, or delete it and run \"cairn init\".", upperFirst(reason(err))))
	}
	opts.Engine, opts.Locks = opened, locks
	return opts, diags
}

// lockChanged says which versions of providers were chosen: others must learn of them.
func (s *session) lockChanged(changes []tfengine.LockChange) hcl.Diagnostics {
	if len(changes) == 0 {
		return nil
	}
	var texts []string
	for _, c := range changes {
		switch {
		case c.Before == "":
			texts = append(texts, fmt.Sprintf("Locked provider %s %s in %s.", c.Provider, c.After, providerLockFile))
		case c.After == "":
			texts = append(texts, fmt.Sprintf("Removed provider %s %s from %s: nothing requires it.", c.Provider, c.Before, providerLockFile))
		default:
			texts = append(texts, fmt.Sprintf("Locked provider %s %s in %s, in place of %s.", c.Provider, c.After, providerLockFile, c.Before))
		}
	}
	texts = append(texts, "Commit that file, so that everybody uses the same versions; with -lockfile=readonly, it is never changed.")
	if s.options.json {
		return hcl.Diagnostics{{Severity: hcl.DiagWarning, Summary: "Provider lock file changed", Detail: strings.Join(texts, " ")}}
	}
	for _, text := range texts {
		s.note("%s\n", text)
	}
	return nil
}

// checkedOptions is prepare for a configuration that is used only if it is good. Where it is not, all its mistakes
// are found, as far as that is possible with what could be installed.
func (s *session) checkedOptions(ctx context.Context) (stackruntime.Options, hcl.Diagnostics) {
	config, diags := s.loadConfig()
	if config == nil || len(config.Files) == 0 {
		return stackruntime.Options{}, diags
	}
	if unsupported := s.unsupportedModules(config); unsupported.HasErrors() {
		return stackruntime.Options{}, unsupported
	}
	opts, moreDiags := s.prepare(ctx, config, false)
	switch {
	case moreDiags.HasErrors():
		return opts, diags.Extend(moreDiags).Extend(s.checkSources(ctx, config))
	case diags.HasErrors():
		return opts, diags.Extend(moreDiags).Extend(stackruntime.Validate(ctx, opts))
	}
	return opts, diags.Extend(moreDiags)
}

// unsupportedModules returns the errors about modules that are for other versions of the engine. Nothing else is said
// then, nor anything installed.
func (s *session) unsupportedModules(config *stackconfig.Config) hcl.Diagnostics {
	opened, err := s.openEngine()
	if err != nil {
		return nil //nolint:nilerr // prepare reports it
	}
	return opened.Unsupported(tfengine.ModuleDirs(config))
}

// checkSources returns the mistakes that show without a process of an engine, and without providers.
func (s *session) checkSources(ctx context.Context, config *stackconfig.Config) hcl.Diagnostics {
	if s.deps.openEngine != nil {
		return nil // it starts no processes
	}
	var info engine.Info // which files modules have depends on it
	if s.binary != nil {
		info = s.binary.Info
	}
	return stackruntime.Validate(ctx, stackruntime.Options{
		Config: config,
		Engine: tfengine.NewSourceEngine(info, ".", config.Resolver),
	})
}

// parallelism returns how many components are worked on at the same time; 0 leaves it to the runtime.
func (s *session) parallelism(option countValue) (int, error) {
	if option > 0 {
		return int(option), nil
	}
	read, err := s.readSettings()
	return read.Parallelism, err
}
