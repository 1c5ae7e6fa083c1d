// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package requirements knows which providers a stack and its modules require, and locks, mirrors
// and describes these.
package requirements

import (
	"context"
	"errors"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/sources"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Stack is a stack whose providers are looked at. All fields are set.
type Stack struct {
	env     *env.Env
	sources *sources.Sources
	engines *engines.Stack
	shared  *engines.Shared
}

// Of returns the requirements of a stack.
func Of(e *env.Env, files *sources.Sources, chosen *engines.Stack, shared *engines.Shared) *Stack {
	return &Stack{e, files, chosen, shared}
}

func (s *Stack) lockFile() string { return s.env.Join(locks.FileName) }

// dir and workDir are absolute.
func (s *Stack) dir() string     { return env.Absolute(s.env.Dir) }
func (s *Stack) workDir() string { return env.Absolute(s.env.WorkDir) }

// exclusive keeps other programs from installing, and from changing the lock file, at the same
// time.
func (s *Stack) exclusive(ctx context.Context) (unlock func(), err error) {
	if err := s.sources.PrepareWorkDir(); err != nil {
		return nil, err
	}
	unlock, err = install.In(s.env.WorkDir).Exclusive(ctx)
	if err != nil {
		return nil, failure.Error("Unusable working directory", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	return unlock, nil
}

// required are those that a stack and its modules require, without the builtin one, by their
// addresses for the engine.
type required struct {
	constraints map[stackaddrs.Provider][]string
	ranges      map[stackaddrs.Provider]hcl.Range // where the stack requires them
	builtin     bool                              // modules require the one that is part of the engine
	address     func(stackaddrs.Provider) stackaddrs.Provider
}

// required reads the configuration and its modules, which starts no process but one that identifies
// the engine.
func (s *Stack) required(ctx context.Context) (*required, hcl.Diagnostics) {
	config, diags := s.sources.Config()
	if diags.HasErrors() {
		return nil, diags
	}
	found := &required{
		constraints: map[stackaddrs.Provider][]string{}, ranges: map[stackaddrs.Provider]hcl.Range{},
		address: engineAddress(s.engines.Reader(ctx)),
	}
	add := func(all map[stackaddrs.Provider][]string) {
		for provider, constraints := range all {
			if provider.IsBuiltin() {
				continue
			}
			address := found.address(provider)
			found.constraints[address] = append(found.constraints[address], constraints...)
		}
	}
	add(config.Requirements())
	for provider, at := range config.RequirementRanges() {
		found.ranges[found.address(provider)] = at
	}
	modules, moreDiags := s.moduleRequirements(ctx, config)
	for _, one := range modules {
		_, builtin := one[stackaddrs.BuiltinProvider]
		found.builtin = found.builtin || builtin
		add(one)
	}
	return found, diags.Extend(moreDiags)
}

// moduleRequirements returns the requirements of each module of a component.
func (s *Stack) moduleRequirements(ctx context.Context,
	config *stackconfig.Config,
) (all []map[stackaddrs.Provider][]string, diags hcl.Diagnostics) {
	session := s.engines.Sources(config.Resolver)
	for _, dir := range config.ModuleDirs() {
		module, moreDiags := session.Module(ctx, dir)
		diags = diags.Extend(moreDiags)
		if module != nil {
			all = append(all, module.Requirements)
		}
	}
	return all, diags
}

// engineAddress returns a function for the address of a provider in the lock file.
func engineAddress(reader engine.Info) func(stackaddrs.Provider) stackaddrs.Provider {
	return func(provider stackaddrs.Provider) stackaddrs.Provider {
		return toolchain.InstalledAddress(reader.Name, provider)
	}
}

// stackAddress is the reverse of engineAddress.
func stackAddress(reader engine.Info) func(stackaddrs.Provider) stackaddrs.Provider {
	return func(provider stackaddrs.Provider) stackaddrs.Provider {
		return toolchain.StackAddress(reader.Name, provider)
	}
}

// restrict leaves the providers that are named, if any are.
func (r *required) restrict(names []string) error {
	if len(names) == 0 {
		return nil
	}
	named := map[stackaddrs.Provider][]string{}
	for _, name := range names {
		provider, err := release.ParseProvider(name)
		if err != nil {
			return failure.Error("Invalid provider address", "%s.", failure.Capitalize(err.Error()))
		}
		provider = r.address(provider)
		constraints, ok := r.constraints[provider]
		if !ok {
			return failure.Error("Provider not required", "Neither the stack nor its modules require provider %s. Name one that is required, or "+
				"none for all of them.", provider)
		}
		named[provider] = constraints
	}
	r.constraints = named
	return nil
}

// diagnostics returns the errors about providers, each where the stack requires it.
func (r *required) diagnostics(summary string, err error) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, one := range selection.Errors(err) {
		diag := failure.New(summary, "%s.", failure.Capitalize(failure.Reason(one)))
		diag.Extra = fault.OfError(one)
		if about, ok := errors.AsType[*selection.Error](one); ok {
			if at, known := r.ranges[about.Provider]; known {
				diag.Subject = &at
			}
		}
		diags = diags.Append(diag)
	}
	return diags
}
