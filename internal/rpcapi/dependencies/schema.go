// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// GetBuiltInProviders implements [dependenciespb.DependenciesServer].
func (s *Service) GetBuiltInProviders(
	context.Context, *dependenciespb.GetBuiltInProviders_Request,
) (*dependenciespb.GetBuiltInProviders_Response, error) {
	return &dependenciespb.GetBuiltInProviders_Response{AvailableProviders: []*terraform1pb.ProviderPackage{
		{SourceAddr: stackaddrs.BuiltinProvider.String()},
	}}, nil
}

// GetProviderSchema implements [dependenciespb.DependenciesServer].
func (s *Service) GetProviderSchema(
	ctx context.Context, req *dependenciespb.GetProviderSchema_Request,
) (*dependenciespb.GetProviderSchema_Response, error) {
	provider, err := release.ParseProvider(req.GetProviderAddr())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	var found *schema.Provider
	if provider.IsBuiltin() {
		found, err = builtinSchema(provider, req.GetProviderVersion())
	} else {
		found, err = s.pluginSchema(ctx, provider, req)
	}
	if err != nil {
		return nil, err
	}
	message, err := schemaMessage(found)
	if err != nil {
		return nil, status.Errorf(codes.Internal, "the schema of %s cannot be sent: %s", provider, err)
	}
	return &dependenciespb.GetProviderSchema_Response{Schema: message}, nil
}

func builtinSchema(provider stackaddrs.Provider, version string) (*schema.Provider, error) {
	if version != "" {
		return nil, status.Errorf(codes.InvalidArgument, "the provider %s is built in, and has no versions: leave the version out", provider)
	}
	if provider != stackaddrs.BuiltinProvider {
		return nil, status.Errorf(codes.Internal, "there is no built-in provider %s", provider)
	}
	return builtin.Schema(), nil
}

func (s *Service) pluginSchema(
	ctx context.Context, provider stackaddrs.Provider, req *dependenciespb.GetProviderSchema_Request,
) (*schema.Provider, error) {
	version, err := release.ParseVersion(req.GetProviderVersion())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	cache, err := handle.Get[*Cache](s.handles, req.GetProviderCacheHandle(), CacheHandle)
	if err != nil {
		return nil, err
	}
	found, err := s.readSchema(ctx, cache, release.ID{Provider: provider, Version: version})
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if err != nil {
		return nil, status.Errorf(codes.Internal, "the schema of %s cannot be read: %s", provider, err)
	}
	return found, nil
}

func (s *Service) readSchema(ctx context.Context, cache *Cache, id release.ID) (*schema.Provider, error) {
	pkg := cache.Package(id)
	if pkg == nil {
		return nil, fmt.Errorf("there is no package of version %s for %s in %s", id.Version, cache.Platform, cache.Path)
	}
	program, err := pkg.Executable()
	if err != nil {
		return nil, err
	}
	return instances.ReadSchema(ctx, program, withTLS(s.opts.Environ))
}

// withTLS returns an environment in which connections to providers are encrypted, as they always
// are for clients of the API.
func withTLS(env []string) []string { return environ.Without(env, plugin.NoTLSVariable) }
