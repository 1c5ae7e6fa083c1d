// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairn

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation/requirements"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// LockProvidersRequest says for which packages of providers checksums are locked. The zero value is
// for all that the stack requires, and for this platform.
type LockProvidersRequest struct {
	Platforms []string // such as linux_amd64; that of this program if there are none
	Providers []string // source addresses; all that the stack requires if there are none

	// Directory is the path of a mirror, Network the address of one, which is asked in place of the
	// registries. At most one of them is given.
	Directory, Network string
}

// MirrorProvidersRequest says which packages of providers are fetched, and into which directory.
type MirrorProvidersRequest struct {
	Dir        string   // made when needed
	Platforms  []string // such as linux_amd64; that of this program if there are none
	IgnoreLock bool     // take the newest versions that are allowed, whatever is locked
}

// ProviderPackage is the package of a provider for a platform.
type ProviderPackage struct {
	Provider          stackaddrs.Provider
	Version, Platform string

	New, Added bool   // after locking: nothing was locked for the provider before; checksums were added
	File       string // after mirroring: its path in the mirror, with slashes
}

// LockProviders adds the checksums of packages to the lock file of the stack, as "terraform
// providers lock" does: for several platforms, and from where packages are published. It takes no
// engine.
func (s *Stack) LockProviders(ctx context.Context, req LockProvidersRequest) ([]ProviderPackage, hcl.Diagnostics) {
	packages, diags := s.operations.Providers().Lock(ctx, requirements.LockRequest(req))
	return providerPackages(packages), diags
}

// MirrorProviders fetches packages of the stack's providers into a directory that they can be
// installed from, as "terraform providers mirror" does. It takes no engine.
func (s *Stack) MirrorProviders(ctx context.Context, req MirrorProvidersRequest) ([]ProviderPackage, hcl.Diagnostics) {
	packages, diags := s.operations.Providers().Mirror(ctx, requirements.MirrorRequest(req))
	return providerPackages(packages), diags
}

func providerPackages(packages []requirements.Package) []ProviderPackage {
	var converted []ProviderPackage
	for _, one := range packages {
		converted = append(converted, ProviderPackage(one))
	}
	return converted
}
