// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies

import (
	"context"
	"path/filepath"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

// CacheHandle is the name in errors of handles of [*Cache].
const CacheHandle = "provider plugin cache"

// Cache is a directory of provider packages that a client has opened. Its path is absolute.
type Cache struct{ packagecache.Dir }

// OpenProviderPluginCache implements [dependenciespb.DependenciesServer].
func (s *Service) OpenProviderPluginCache(
	_ context.Context, req *dependenciespb.OpenProviderPluginCache_Request,
) (*dependenciespb.OpenProviderPluginCache_Response, error) {
	dir, err := newCacheDir(req.GetCacheDir(), req.GetOverridePlatform())
	if err != nil {
		return nil, err
	}
	return &dependenciespb.OpenProviderPluginCache_Response{ProviderCacheHandle: handle.Open(s.handles, &Cache{dir})}, nil
}

// newCacheDir returns a directory for a platform, by default that of this program.
//
// Errors: InvalidArgument.
func newCacheDir(path, platform string) (dir packagecache.Dir, err error) {
	dir.Platform = release.CurrentPlatform
	if platform != "" {
		if dir.Platform, err = release.ParsePlatform(platform); err != nil {
			return dir, status.Error(codes.InvalidArgument, err.Error())
		}
	}
	if dir.Path, err = filepath.Abs(path); err != nil {
		return dir, status.Errorf(codes.InvalidArgument, "the directory %q cannot be found: %s", path, err)
	}
	return dir, nil
}

// CloseProviderPluginCache implements [dependenciespb.DependenciesServer].
func (s *Service) CloseProviderPluginCache(
	_ context.Context, req *dependenciespb.CloseProviderPluginCache_Request,
) (*dependenciespb.CloseProviderPluginCache_Response, error) {
	if _, err := handle.Close[*Cache](s.handles, req.GetProviderCacheHandle(), CacheHandle); err != nil {
		return nil, err
	}
	return &dependenciespb.CloseProviderPluginCache_Response{}, nil
}

// GetCachedProviders implements [dependenciespb.DependenciesServer].
func (s *Service) GetCachedProviders(
	_ context.Context, req *dependenciespb.GetCachedProviders_Request,
) (*dependenciespb.GetCachedProviders_Response, error) {
	cache, err := handle.Get[*Cache](s.handles, req.GetProviderCacheHandle(), CacheHandle)
	if err != nil {
		return nil, err
	}
	found, err := cache.Packages()
	if err != nil {
		return nil, status.Errorf(codes.Unknown, "the provider plugin cache cannot be read: %s", err)
	}
	response := &dependenciespb.GetCachedProviders_Response{}
	for _, pkg := range found {
		var hashes []release.Hash
		if hash, err := pkg.Hash(); err == nil { // else it is there, and cannot be used
			hashes = append(hashes, hash)
		}
		response.AvailableProviders = append(response.AvailableProviders, providerPackage(pkg.ID, hashes))
	}
	return response, nil
}
