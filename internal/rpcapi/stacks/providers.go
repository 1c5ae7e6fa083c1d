// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/rpcapi/dependencies"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// providers returns those that a request gives to its operation, besides the built-in ones.
//
// Errors: InvalidArgument.
func (s *Service) providers(given dependencies.Handles) (*operation.Providers, error) {
	selected, err := dependencies.Providers(s.handles, given)
	if err != nil {
		return nil, err
	}
	found := &operation.Providers{}
	for _, p := range selected {
		var hashes []string
		for _, hash := range p.Hashes {
			hashes = append(hashes, string(hash))
		}
		found.Packages = append(found.Packages, engine.ProviderPackage{
			Provider: p.Provider,
			Version:  p.Version.String(),
			Hashes:   hashes,
			Dir:      p.Dir,
		})
	}
	return found, nil
}

// openWith returns the stack of a configuration for an operation with providers, of which one that
// applies a plan has that. The caller calls
// done at its end.
func (s *Service) openWith(config *configuration, given dependencies.Handles, plan *stackplan.Plan) (*operation.Stack, func(), error) {
	providers, err := s.providers(given)
	if err != nil {
		return nil, nil, err
	}
	return s.open(config, operation.Options{Providers: providers, Engine: engines.Request{Plan: plan}})
}
