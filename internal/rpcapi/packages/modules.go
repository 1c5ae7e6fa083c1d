// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package packages

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/hashicorp/go-slug/sourceaddrs"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/registry"
	packagespb "github.com/cairnstacks/cairn/proto/terraform1/packages"
)

// parseModule returns the package of a module's address in a registry.
func parseModule(addr string) (registry.Package, error) {
	source, err := sourceaddrs.ParseRegistrySource(addr)
	if err != nil {
		return registry.Package{}, fmt.Errorf("%q is not the address of a module in a registry: %w", addr, err)
	}
	found := source.Package()
	return registry.Package{
		Service: registry.Modules,
		Host:    found.Host,
		Path:    path.Join(found.Namespace, found.Name, found.TargetSystem),
	}, nil
}

// ModulePackageVersions implements [packagespb.PackagesServer].
func (s *Service) ModulePackageVersions(
	ctx context.Context, req *packagespb.ModulePackageVersions_Request,
) (*packagespb.ModulePackageVersions_Response, error) {
	response := &packagespb.ModulePackageVersions_Response{}
	pkg, err := parseModule(req.GetSourceAddr())
	if err != nil {
		response.Diagnostics = failed("Invalid module address", err)
		return response, nil
	}
	versions, err := s.opts.Registries.Versions(ctx, pkg)
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if err != nil {
		response.Diagnostics = failed("Unavailable module versions", err)
		return response, nil
	}
	for _, text := range versions {
		if version, err := release.ParseVersion(text); err == nil {
			response.Versions = append(response.Versions, version.String())
		}
	}
	return response, nil
}

// ModulePackageSourceAddr implements [packagespb.PackagesServer].
func (s *Service) ModulePackageSourceAddr(
	ctx context.Context, req *packagespb.ModulePackageSourceAddr_Request,
) (*packagespb.ModulePackageSourceAddr_Response, error) {
	response := &packagespb.ModulePackageSourceAddr_Response{}
	pkg, err := parseModule(req.GetSourceAddr())
	if err == nil {
		_, err = release.ParseVersion(req.GetVersion())
	}
	if err != nil {
		response.Diagnostics = failed("Invalid module address", err)
		return response, nil
	}
	location, err := s.opts.Registries.Location(ctx, pkg, req.GetVersion())
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if err != nil {
		response.Diagnostics = failed("Unavailable module package", err)
		return response, nil
	}
	response.Url = location
	return response, nil
}

// FetchModulePackage implements [packagespb.PackagesServer].
func (s *Service) FetchModulePackage(
	ctx context.Context, req *packagespb.FetchModulePackage_Request,
) (*packagespb.FetchModulePackage_Response, error) {
	err := errors.New("the directory is missing")
	if req.GetCacheDir() != "" {
		err = bundle.Download(ctx, bundle.DownloadOptions{
			Address: req.GetUrl(), Dir: req.GetCacheDir(), Client: s.opts.Registries.HTTP(), Environ: s.opts.Environ,
		})
	}
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	response := &packagespb.FetchModulePackage_Response{}
	if err != nil {
		response.Diagnostics = failed("Module package not fetched", err)
	}
	return response, nil
}
