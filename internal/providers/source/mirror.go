// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Directory is a mirror in a directory: HOST/NAMESPACE/TYPE/VERSION/OS_ARCH, or in
// HOST/NAMESPACE/TYPE archives as terraform-provider-TYPE_VERSION_OS_ARCH.zip.
type Directory struct{ Path string }

var _ Source = Directory{}

func (d Directory) providerDir(provider stackaddrs.Provider) string {
	return filepath.Join(d.Path, provider.Hostname, provider.Namespace, provider.Type)
}

// Providers returns those for which there is a place in the mirror, sorted. Nothing is in one that
// cannot be read.
func (d Directory) Providers() []stackaddrs.Provider {
	names, err := fs.Glob(os.DirFS(d.Path), "*/*/*")
	if err != nil {
		return nil
	}
	var providers []stackaddrs.Provider
	for _, name := range names {
		parts := strings.Split(name, "/")
		written := stackaddrs.Provider{Hostname: parts[0], Namespace: parts[1], Type: parts[2]}
		if provider, err := release.ParseProvider(name); err == nil && provider == written {
			providers = append(providers, provider)
		}
	}
	slices.SortFunc(providers, release.CompareProviders)
	return providers
}

// Versions implements [Source].
func (d Directory) Versions(_ context.Context, provider stackaddrs.Provider) (*Available, error) {
	entries, err := os.ReadDir(d.providerDir(provider))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, d.lacks(ErrNoProvider, "provider "+release.Short(provider))
	}
	if err != nil {
		return nil, fmt.Errorf("the mirror cannot be read: %w", err)
	}
	var texts []string
	for _, entry := range entries {
		name := entry.Name()
		rest, isArchive := strings.CutPrefix(strings.TrimSuffix(name, ".zip"), archivePrefix(provider))
		if isArchive && strings.HasSuffix(name, ".zip") {
			name, _, _ = strings.Cut(rest, "_")
		}
		texts = append(texts, name)
	}
	available := newAvailable(texts, nil)
	if len(available.Versions) == 0 {
		return nil, d.lacks(ErrNoProvider, "provider "+release.Short(provider))
	}
	return available, nil
}

func (d Directory) lacks(kind error, what string) error {
	return &missingError{kind, fmt.Sprintf("the mirror in %s has no %s", d.Path, what)}
}

func archivePrefix(provider stackaddrs.Provider) string {
	return "terraform-provider-" + provider.Type + "_"
}

// Package implements [Source].
func (d Directory) Package(_ context.Context, id release.ID, platform release.Platform) (*Package, error) {
	found := &Package{ID: id, Platform: platform}
	if unpacked := (packagecache.Dir{Path: d.Path, Platform: platform}).Package(id); unpacked != nil {
		found.path = unpacked.Dir
		return found, nil
	}
	found.path = filepath.Join(d.providerDir(id.Provider), archivePrefix(id.Provider)+id.Version.String()+"_"+platform.String()+".zip")
	if info, err := os.Stat(found.path); err != nil || !info.Mode().IsRegular() {
		return nil, d.lacks(ErrNoPackage, fmt.Sprintf("package of provider %s for %s", id, platform))
	}
	return found, nil
}

// Network is a mirror in the network.
type Network struct {
	Client *registry.Client
	URL    *url.URL // ends in a slash
}

var _ Source = Network{}

// NewNetwork returns a mirror by its address.
func NewNetwork(client *registry.Client, address string) (Network, error) {
	location, err := url.Parse(address)
	if err != nil || location.Scheme != "https" || location.Host == "" {
		return Network{}, errors.New("the address of a network mirror is an https address")
	}
	if !strings.HasSuffix(location.Path, "/") {
		location.Path += "/"
	}
	return Network{client, location}, nil
}

func (n Network) get(ctx context.Context, provider stackaddrs.Provider, name, what string, target any) (*url.URL, error) {
	location := n.URL.JoinPath(provider.Hostname, provider.Namespace, provider.Type, name)
	resp, err := n.Client.Open(ctx, location, what)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	return resp.Request.URL, registry.Decode(ctx, resp, target)
}

func (n Network) lacks(kind error, what string) error {
	return &missingError{kind, fmt.Sprintf("the mirror at %s has no %s", n.URL.Host, what)}
}

// Versions implements [Source].
func (n Network) Versions(ctx context.Context, provider stackaddrs.Provider) (*Available, error) {
	var answer struct {
		Versions map[string]struct{} `json:"versions"`
	}
	_, err := n.get(ctx, provider, "index.json", "provider "+release.Short(provider), &answer)
	if _, ok := errors.AsType[*registry.NotFoundError](err); ok {
		return nil, n.lacks(ErrNoProvider, "provider "+release.Short(provider))
	}
	if err != nil {
		return nil, err
	}
	return newAvailable(slices.Collect(maps.Keys(answer.Versions)), nil), nil
}

// Package implements [Source].
func (n Network) Package(ctx context.Context, id release.ID, platform release.Platform) (*Package, error) {
	var answer struct {
		Archives map[string]struct {
			URL    string   `json:"url"`
			Hashes []string `json:"hashes"`
		} `json:"archives"`
	}
	what := fmt.Sprintf("package of provider %s for %s", id, platform)
	base, err := n.get(ctx, id.Provider, id.Version.String()+".json", what, &answer)
	if _, ok := errors.AsType[*registry.NotFoundError](err); ok {
		return nil, n.lacks(ErrNoPackage, what)
	}
	if err != nil {
		return nil, err
	}
	archive, ok := answer.Archives[platform.String()]
	if !ok {
		return nil, n.lacks(ErrNoPackage, what)
	}
	location, err := base.Parse(archive.URL)
	if err != nil || archive.URL == "" {
		return nil, fmt.Errorf("the mirror at %s gives a %s whose address cannot be read", n.URL.Host, what)
	}
	found := &Package{ID: id, Platform: platform, client: n.Client, archive: location}
	for _, text := range archive.Hashes {
		if hash, err := release.ParseHash(text); err == nil {
			found.hashes = append(found.hashes, hash)
		}
	}
	found.hashes = release.Known(found.hashes)
	return found, nil
}
