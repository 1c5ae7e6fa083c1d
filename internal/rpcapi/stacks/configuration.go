// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/rpcapi/dependencies"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	"github.com/cairnstacks/cairn/internal/rpcapi/sources"
	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// configurationHandle is the name in errors of handles of [*configuration].
const configurationHandle = "stack configuration"

// configuration is a stack in a bundle that a client has opened. It had no mistakes that show in
// its own files.
type configuration struct {
	sources *sources.Resolver
	config  *stackconfig.Config
	work    workDir
}

func (s *Service) configuration(opened int64) (*configuration, error) {
	return handle.Get[*configuration](s.handles, opened, configurationHandle)
}

// open returns the stack for an operation. The caller calls done at its end.
func (s *Service) open(config *configuration, opts operation.Options) (stack *operation.Stack, done func(), err error) {
	opts.Env.WorkDir, err = config.work.acquire(opts.Providers)
	if err != nil {
		return nil, nil, status.Errorf(codes.Internal, "there is no place for files of the engine: %s", err)
	}
	opts.Env.Dir = config.sources.Dir()
	opts.Resolver = config.sources
	opts.Env.Environ = s.opts.Environ
	opts.Env.Log = s.opts.Log
	opts.Shared = &s.shared
	stack = operation.Open(opts)
	return stack, func() {
		if err := stack.Close(); err != nil {
			s.opts.Log.Error("closing a stack", "error", err.Error())
		}
		if err := config.work.release(); err != nil {
			s.opts.Log.Error("removing files of the engine", "error", err.Error())
		}
	}, nil
}

// OpenStackConfiguration implements [stackspb.StacksServer].
func (s *Service) OpenStackConfiguration(
	_ context.Context, req *stackspb.OpenStackConfiguration_Request,
) (*stackspb.OpenStackConfiguration_Response, error) {
	bundle, err := handle.Get[*dependencies.Bundle](s.handles, req.GetSourceBundleHandle(), dependencies.BundleHandle)
	if err != nil {
		return nil, err
	}
	root, err := bundle.Resolve(req.GetSourceAddress())
	if err != nil {
		return nil, err
	}
	found, err := sources.New(bundle.Bundle, root.Source, root.Path)
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "the source bundle cannot be used: %s", err)
	}
	config, diags := stackconfig.LoadWith(found.Dir(), stackconfig.LoadOptions{Resolver: found})
	response := &stackspb.OpenStackConfiguration_Response{Diagnostics: wire.Diagnostics(diags, found.Name)}
	if diags.HasErrors() {
		return response, nil
	}
	opened := &configuration{sources: found, config: config, work: workDir{below: &s.temporary}}
	response.StackConfigHandle = handle.Open(s.handles, opened, req.GetSourceBundleHandle())
	return response, nil
}

// CloseStackConfiguration implements [stackspb.StacksServer].
func (s *Service) CloseStackConfiguration(
	_ context.Context, req *stackspb.CloseStackConfiguration_Request,
) (*stackspb.CloseStackConfiguration_Response, error) {
	closed, err := handle.Close[*configuration](s.handles, req.GetStackConfigHandle(), configurationHandle)
	if err != nil {
		return nil, err
	}
	if err := closed.work.close(); err != nil {
		s.opts.Log.Error("removing files of the engine", "error", err.Error())
	}
	return &stackspb.CloseStackConfiguration_Response{}, nil
}
