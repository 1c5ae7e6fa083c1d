// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package packages

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/status"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/providers/install"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	packagespb "github.com/cairnstacks/cairn/proto/terraform1/packages"
)

// failed returns the diagnostic for an error.
func failed(summary string, err error) []*terraform1pb.Diagnostic {
	return wire.Diagnostics(hcl.Diagnostics{failure.New(summary, "%s.", failure.Capitalize(failure.Reason(err)))}, nil)
}

// ProviderPackageVersions implements [packagespb.PackagesServer].
func (s *Service) ProviderPackageVersions(
	ctx context.Context, req *packagespb.ProviderPackageVersions_Request,
) (*packagespb.ProviderPackageVersions_Response, error) {
	response := &packagespb.ProviderPackageVersions_Response{}
	provider, err := release.ParseProvider(req.GetSourceAddr())
	if err != nil {
		response.Diagnostics = failed("Invalid provider address", err)
		return response, nil
	}
	available, err := s.registry().Versions(ctx, provider)
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if err != nil {
		response.Diagnostics = failed("Unavailable provider versions", err)
		return response, nil
	}
	for _, version := range available.Versions {
		response.Versions = append(response.Versions, version.String())
	}
	if len(available.Notices) > 0 {
		notices := failure.Warning("Notices of the registry", "%s", "- "+strings.Join(available.Notices, "\n- "))
		response.Diagnostics = append(response.Diagnostics, wire.Diagnostic(notices, nil))
	}
	return response, nil
}

func (s *Service) registry() source.Source { return source.Registry{Client: s.opts.Registries} }

// FetchProviderPackage implements [packagespb.PackagesServer].
func (s *Service) FetchProviderPackage(
	ctx context.Context, req *packagespb.FetchProviderPackage_Request,
) (*packagespb.FetchProviderPackage_Response, error) {
	response := &packagespb.FetchProviderPackage_Response{}
	id, err := parseID(req.GetSourceAddr(), req.GetVersion())
	if err != nil {
		response.Diagnostics = failed("Invalid provider release", err)
		return response, nil
	}
	var allowed []release.Hash
	for _, text := range req.GetHashes() {
		hash, err := release.ParseHash(text)
		if err != nil {
			response.Diagnostics = failed("Invalid hash", err)
			return response, nil
		}
		allowed = append(allowed, hash)
	}
	for _, platform := range req.GetPlatforms() {
		response.Results = append(response.Results, s.fetchPackage(ctx, id, platform, req.GetCacheDir(), allowed))
	}
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return response, nil
}

func parseID(addr, version string) (id release.ID, err error) {
	if id.Provider, err = release.ParseProvider(addr); err != nil {
		return id, err
	}
	if id.Provider.IsBuiltin() {
		return id, fmt.Errorf("the provider %s is built in, and has no packages", id.Provider)
	}
	id.Version, err = release.ParseVersion(version)
	return id, err
}

// fetchPackage fetches the package for one platform.
func (s *Service) fetchPackage(
	ctx context.Context, id release.ID, text, dir string, allowed []release.Hash,
) *packagespb.FetchProviderPackage_PlatformResult {
	platform, err := release.ParsePlatform(text)
	if err != nil {
		return &packagespb.FetchProviderPackage_PlatformResult{Diagnostics: failed("Invalid platform", err)}
	}
	found, err := s.registry().Package(ctx, id, platform)
	if err != nil {
		return &packagespb.FetchProviderPackage_PlatformResult{Diagnostics: failed("Unavailable provider package", err)}
	}
	installer := &install.Installer{Cache: packagecache.Dir{Path: dir, Platform: platform}}
	content, err := installer.Fetched(ctx, found, allowed)
	if err != nil {
		return &packagespb.FetchProviderPackage_PlatformResult{Diagnostics: failed("Provider package not fetched", err)}
	}
	hashes := []release.Hash{content}
	if found.Signed != nil {
		hashes = append(hashes, found.Signed.Hashes...)
	}
	slices.Sort(hashes)
	message := &terraform1pb.ProviderPackage{SourceAddr: id.Provider.String(), Version: id.Version.String()}
	for _, hash := range slices.Compact(hashes) {
		message.Hashes = append(message.Hashes, string(hash))
	}
	return &packagespb.FetchProviderPackage_PlatformResult{Provider: message}
}
