// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/hashicorp/go-slug/sourceaddrs"
	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// registryClient asks registries for packages, and for the versions of each package once.
type registryClient struct {
	client *registry.Client

	mu struct {
		sync.Mutex
		versions map[packageID]*listed
	}
}

type listed struct {
	once     sync.Once
	versions []string
	err      error
}

func newRegistryClient(client *http.Client, environ []string) *registryClient {
	r := &registryClient{client: registry.New(client, environ)}
	r.mu.versions = map[packageID]*listed{}
	return r
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
	r.mu.Lock()
	entry := r.mu.versions[id]
	if entry == nil {
		entry = &listed{}
		r.mu.versions[id] = entry
	}
	r.mu.Unlock()
	entry.once.Do(func() { entry.versions, entry.err = r.client.Versions(ctx, pkg) })
	return entry.versions, entry.err
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
