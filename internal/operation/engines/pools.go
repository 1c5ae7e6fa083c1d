// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engines

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/remote"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// noPools explains why a binary does not work with pools (rule G3).
func noPools(pool settings.Pool) error {
	return hcl.Diagnostics{failure.At(pool.Range, "Pool without native engine",
		"Workers plan and apply with the native engine, and another engine is chosen for the stack. Choose %q or %q, or remove the pools.",
		Auto, Native)}
}

// withPools returns an engine that has workers do the components in pools, if there are any (rule
// G3). Without pools and workers it is the engine itself.
func (s *Stack) withPools(local engine.Engine) (engine.Engine, error) {
	read, err := s.env.Settings()
	if err != nil {
		return nil, err
	}
	var transport remote.Transport
	if s.request.Workers != nil {
		if transport, err = s.request.Workers(env.Absolute(s.env.Dir), s.waits); err != nil {
			return nil, err
		}
	}
	if len(read.Pools) == 0 && transport == nil {
		return local, nil
	}
	config, diags := s.sources.Config()
	if config != nil && !diags.HasErrors() {
		if diags := checkPools(&read.Pools, config); diags.HasErrors() {
			return nil, diags
		}
	}
	return remote.New(remote.Options{
		Local: local, Transport: transport,
		Pool: func(component stackaddrs.AbsComponentInstance, given map[engine.ProviderSlot]engine.ProviderConfig) (string, hcl.Diagnostics) {
			req := settings.PoolRequest{Component: component, Required: required(config)}
			for _, provider := range given {
				if !provider.Unknown {
					req.Providers = append(req.Providers, provider.Instance)
				}
			}
			slices.SortFunc(req.Providers, stackaddrs.AbsProviderConfigInstance.Compare)
			pool, diags := read.Pools.For(req)
			if pool == s.request.Pool {
				pool = "" // its credentials and its network are those of this program
			}
			return pool, diags
		},
	}), nil
}

// waits says that work on a component waits for a worker.
func (s *Stack) waits(component, pool string) {
	s.waiting.Lock()
	defer s.waiting.Unlock()
	s.env.Notify.Send(notice.WaitingForWorker{Component: component, Pool: pool})
}

// Pools returns the names of the pools that components of the stack may be in, in the order of
// their blocks.
func (s *Stack) Pools() ([]string, error) {
	read, err := s.env.Settings()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, pool := range read.Pools {
		names = append(names, pool.Name)
	}
	return names, nil
}

// OpenForWorker returns the engine of a worker, for files of a stack that somebody else has sent.
func (s *Stack) OpenForWorker() (engine.Engine, error) { return s.openNative() }

// required returns the providers that stacks require, by their local names.
func required(config *stackconfig.Config) func(stackaddrs.Stack, string) stackaddrs.Provider {
	return func(addr stackaddrs.Stack, localName string) stackaddrs.Provider {
		if config == nil {
			return stackaddrs.Provider{}
		}
		if stack := config.Descendant(addr); stack != nil {
			if found := stack.RequiredProviders.Named(localName); found != nil {
				return found.Provider
			}
		}
		return stackaddrs.Provider{}
	}
}

// checkPools reports addresses in pools that a stack without mistakes does not have.
func checkPools(pools *settings.Pools, config *stackconfig.Config) hcl.Diagnostics {
	return pools.Check(
		func(addr stackaddrs.ConfigComponent) bool {
			stack := config.Descendant(addr.Stack)
			return stack != nil && stack.Components[addr.Item.Name] != nil || isRemoved(config, addr.Item.Name)
		},
		func(addr stackaddrs.Stack, ref stackaddrs.ProviderConfigRef) bool {
			stack := config.Descendant(addr)
			return stack != nil && stack.Providers[ref] != nil
		},
	)
}

// isRemoved reports whether a removed block may be about a component with a name: it is still to be
// destroyed.
func isRemoved(config *stackconfig.Config, name string) bool {
	found := false
	config.Walk(func(stack *stackconfig.Stack) {
		found = found || slices.ContainsFunc(stack.Removed, func(removed *stackconfig.Removed) bool {
			component := removed.From.Component
			return component == nil || component.Name == name
		})
	})
	return found
}
