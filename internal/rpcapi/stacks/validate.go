// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/rpcapi/dependencies"
	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// ValidateStackConfiguration implements [stackspb.StacksServer].
func (s *Service) ValidateStackConfiguration(
	ctx context.Context, req *stackspb.ValidateStackConfiguration_Request,
) (*stackspb.ValidateStackConfiguration_Response, error) {
	config, err := s.configuration(req.GetStackConfigHandle())
	if err != nil {
		return nil, err
	}
	providers, err := s.providers(dependencies.Handles{Locks: req.GetDependencyLocksHandle(), Cache: req.GetProviderCacheHandle()})
	if err != nil {
		return nil, err
	}
	stack, done, err := s.open(config, operation.Options{Providers: providers, Engine: engines.Request{ChangesNothing: true}})
	if err != nil {
		return nil, err
	}
	defer done()
	return &stackspb.ValidateStackConfiguration_Response{Diagnostics: wire.Diagnostics(stack.Validate(ctx), config.sources.Name)}, nil
}
