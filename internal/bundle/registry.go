// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/hashicorp/go-slug/sourceaddrs"
	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// listed is the answer of a registry about a package.
type listed struct {
	versions []string
	err      error
}

// registryClient asks registries for packages, and for the versions of each package once.
type registryClient struct {
	client   *registry.Client
	versions once.Map[packageID, listed]
}

func newRegistryClient(client *http.Client, environ []string) *registryClient {
	return &registryClient{client: registry.New(client, environ)}
}

// serviceNames are the names of registries in service discovery.
var serviceNames = map[kind]string{moduleKind: registry.Modules, componentKind: registry.Components}

func inRegistry(id packageID) (registry.Package, error) {
	hostText, name, _ := strings.Cut(id.Address, "/")
	host, err := svchost.ForComparison(hostText)
	if err != nil {
		return registry.Package{}, fmt.Errorf("%q is not a host name: %w", hostText, err)
	}
	return registry.Package{Service: serviceNames[id.Kind], Host: host, Path: name}, nil
}

// Versions returns all versions of a package.
func (r *registryClient) Versions(ctx context.Context, id packageID) ([]string, error) {
	id.Version = ""
	pkg, err := inRegistry(id)
	if err != nil {
		return nil, err
	}
	found, err := r.versions.Get(ctx, id, func() (listed, error) {
		versions, err := r.client.Versions(ctx, pkg)
		return listed{versions, err}, nil // an error is for all who ask: asking again would take as long again
	})
	return found.versions, cmp.Or(err, found.err)
}

// Location returns where the files of a version are.
func (r *registryClient) Location(ctx context.Context, id packageID) (sourceaddrs.RemoteSource, error) {
	pkg, err := inRegistry(id)
	if err != nil {
		return sourceaddrs.RemoteSource{}, err
	}
	location, err := r.client.Location(ctx, pkg, id.Version)
	if err != nil {
		return sourceaddrs.RemoteSource{}, err
	}
	addr, err := stackconfig.ParseSource(location)
	if err != nil {
		return sourceaddrs.RemoteSource{}, fmt.Errorf("the registry %s gives a location for version %s that cannot be used: %w",
			pkg.Host.ForDisplay(), id.Version, err)
	}
	remote, ok := addr.(sourceaddrs.RemoteSource)
	if !ok {
		return sourceaddrs.RemoteSource{}, fmt.Errorf(
			"the registry %s gives a location for version %s that is neither a repository nor an archive",
			pkg.Host.ForDisplay(), id.Version)
	}
	return remote, nil
}
