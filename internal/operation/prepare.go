// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// LockFile is where the versions of providers are kept, next to the stack.
const LockFile = ".terraform.lock.hcl"

// installing says how providers are installed: as [engine.PrepareRequest] does.
type installing struct {
	upgrade, verify bool
	known           hcl.Diagnostics // were reported, and are no reason to stop
}

// prepare installs the providers of the configuration and returns the options of the runtime. With
// errors, these have only the configuration.
func (s *Stack) prepare(ctx context.Context, config *stackconfig.Config, install installing) (stackruntime.Options, hcl.Diagnostics) {
	opened, err := s.openSession(ctx)
	if err != nil {
		return stackruntime.Options{Config: config, StopNow: s.opts.StopNow}, Diagnostics(err)
	}
	return s.prepareWith(ctx, opened, config, install)
}

// prepareWith is prepare with a session.
func (s *Stack) prepareWith(ctx context.Context, opened engine.Session, config *stackconfig.Config, install installing) (stackruntime.Options, hcl.Diagnostics) {
	opts := stackruntime.Options{Config: config, StopNow: s.opts.StopNow}
	diags := s.engines.TakeWarnings()
	preparer := opened.Abilities().Preparer
	if preparer == nil {
		opts.Session = opened
		return opts, diags
	}
	request := &engine.PrepareRequest{
		Modules:      config.ModuleDirs(),
		Requirements: config.Requirements(),
		Ranges:       config.RequirementRanges(),
		Upgrade:      install.upgrade,
		Verify:       install.verify,
		ReadOnlyLock: s.opts.ReadOnlyLocks,
	}
	if given := s.opts.Providers; given != nil {
		request.InstallNothing, request.Packages = true, given.Packages
	}
	prepared, moreDiags := preparer.Prepare(ctx, request)
	diags = diags.Extend(identity.Without(moreDiags, install.known))
	if prepared != nil && len(prepared.Locked) > 0 {
		s.opts.Notify.Send(notice.ProvidersLocked{Changes: prepared.Locked, File: LockFile})
	}
	if diags.HasErrors() {
		return opts, diags
	}
	locks, err := readLocks(ctx, preparer)
	if err != nil {
		return opts, diags.Extend(Diagnostics(err))
	}
	opts.Session, opts.Locks = opened, locks
	return opts, diags
}

// Runtime returns the options of the runtime for the stack, for callers that keep plans and states
// themselves. With errors, not all of them can be used, and the errors are all mistakes that could
// be found.
func (s *Stack) Runtime(ctx context.Context) (stackruntime.Options, hcl.Diagnostics) {
	return s.loadRuntime(ctx)
}

// loadRuntime is prepare for a configuration that is used only if it is good. Where it is not, all
// its mistakes are found, as far as that is possible with the installed providers.
func (s *Stack) loadRuntime(ctx context.Context) (stackruntime.Options, hcl.Diagnostics) {
	config, diags := s.config()
	if config == nil || len(config.Files) == 0 && diags.HasErrors() {
		return stackruntime.Options{}, diags
	}
	if unsupported := s.unsupportedModules(ctx, config); unsupported.HasErrors() {
		return stackruntime.Options{}, unsupported
	}
	opts, moreDiags := s.prepare(ctx, config, installing{})
	switch {
	case moreDiags.HasErrors():
		return opts, diags.Extend(moreDiags).Extend(s.checkSources(ctx, config))
	case diags.HasErrors() || unreadModules(ctx, opts):
		return opts, diags.Extend(moreDiags).Extend(stackruntime.Validate(ctx, opts))
	}
	return opts, diags.Extend(moreDiags)
}

// unreadModules reports whether there are errors in reading the modules of the components.
func unreadModules(ctx context.Context, opts stackruntime.Options) bool {
	return slices.ContainsFunc(opts.Config.ModuleDirs(), func(dir string) bool {
		_, diags := opts.Session.Module(ctx, dir)
		return diags.HasErrors()
	})
}

// unsupportedModules returns the errors about modules that are for other versions of the engine.
// Nothing else is said then, nor anything installed.
func (s *Stack) unsupportedModules(ctx context.Context, config *stackconfig.Config) hcl.Diagnostics {
	opened, err := s.openSession(ctx)
	if err != nil || opened.Abilities().Preparer == nil {
		return nil //nolint:nilerr // prepare reports it
	}
	return opened.Abilities().Preparer.Unsupported(ctx, config.ModuleDirs())
}

// checkSources returns the mistakes that show without a process of an engine, and without
// providers.
func (s *Stack) checkSources(ctx context.Context, config *stackconfig.Config) hcl.Diagnostics {
	if s.opts.ModulesEngine != nil {
		return nil // it starts no processes
	}
	return stackruntime.Validate(ctx, s.withoutProviders(config))
}

// withoutProviders returns the options of the runtime where no process of an engine is to be
// started, and no provider to be there.
func (s *Stack) withoutProviders(config *stackconfig.Config) stackruntime.Options {
	return stackruntime.Options{Config: config, Session: s.engines.Sources(config.Resolver)}
}

// PlanTarget is the target of plans that a caller keeps itself, with the state.
func (s *Stack) PlanTarget(runtime stackruntime.Options) planfile.Target {
	return planfile.Target{
		Config: runtime.Config, Engine: runtime.Session.Info(), CanApply: runtime.Session.CanApply, Modules: &s.opts.Shared.engines.Binary.Modules,
	}
}
