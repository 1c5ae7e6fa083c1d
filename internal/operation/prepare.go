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
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// installing says how providers are installed: as [engine.PrepareRequest] does.
type installing struct {
	upgrade, verify bool
	known           hcl.Diagnostics // were reported, and are no reason to stop
}

// prepare installs the providers of the configuration and returns the options of the runtime. With
// errors, these have only the configuration.
func (s *Stack) prepare(ctx context.Context, config *stackconfig.Config, install installing) (stackruntime.Options, hcl.Diagnostics) {
	opened, err := s.session(ctx)
	if err != nil {
		return stackruntime.Options{Config: config, StopNow: s.opts.StopNow}, Diagnostics(err)
	}
	return s.prepareWith(ctx, opened, config, install)
}

// prepareWith is prepare with a session.
func (s *Stack) prepareWith(ctx context.Context, opened engine.Session, config *stackconfig.Config,
	install installing,
) (stackruntime.Options, hcl.Diagnostics) {
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
		s.env.Notify.Send(notice.ProvidersLocked{Changes: prepared.Locked, File: locks.FileName})
	}
	if diags.HasErrors() {
		return opts, diags
	}
	versions, err := readLocks(ctx, preparer)
	if err != nil {
		return opts, diags.Extend(Diagnostics(err))
	}
	opts.Session, opts.Locks = opened, versions
	return opts, diags
}

// Runtime returns the options of the runtime for the stack, with a configuration that is used only
// if it is good. Where it is not, all its mistakes are found, as far as that is possible with the
// installed providers.
func (s *Stack) Runtime(ctx context.Context) (stackruntime.Options, hcl.Diagnostics) {
	config, diags := s.sources.Config()
	if config == nil || len(config.Files) == 0 && diags.HasErrors() {
		return stackruntime.Options{}, diags
	}
	if unsupported := (checks{s, config}).unsupported(ctx); unsupported.HasErrors() {
		return stackruntime.Options{}, unsupported
	}
	opts, moreDiags := s.prepare(ctx, config, installing{})
	switch {
	case moreDiags.HasErrors():
		return opts, diags.Extend(moreDiags).Extend(checks{s, config}.sources(ctx))
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

// withoutProviders returns the options of the runtime where no process of an engine is to be
// started, and no provider to be there.
func (s *Stack) withoutProviders(config *stackconfig.Config) stackruntime.Options {
	return stackruntime.Options{Config: config, Session: s.engines.Sources(config.Resolver)}
}

// PlanTarget is the target of plans that a caller keeps itself, with the state.
func (s *Stack) PlanTarget(runtime stackruntime.Options) planfile.Target {
	return planfile.Target{
		Config: runtime.Config, Engine: runtime.Session.Info(), CanApply: runtime.Session.CanApply, Modules: s.opts.Shared.engines.Modules(),
	}
}
