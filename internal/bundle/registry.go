// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/hashicorp/go-slug/sourceaddrs"
	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// registryClient speaks the registry protocol: service discovery, list of versions, download.
//
// That of component registries is not published. We use the one of module registries under the service name
// components.v1, with two parts in the address instead of three.
type registryClient struct {
	client *http.Client
	config func() (*cliconfig.Hosts, error)

	mu struct {
		sync.Mutex
		services map[svchost.Hostname]*discovered
		versions map[packageID]*listed
	}
}

type discovered struct {
	once     sync.Once
	services map[string]string
	base     *url.URL
	err      error
}

type listed struct {
	once     sync.Once
	versions []string
	err      error
}

func newRegistryClient(client *http.Client, environ []string) *registryClient {
	r := &registryClient{client: client}
	r.config = sync.OnceValues(func() (*cliconfig.Hosts, error) { return cliconfig.ReadHosts(environ) })
	r.mu.services = map[svchost.Hostname]*discovered{}
	r.mu.versions = map[packageID]*listed{}
	return r
}

// serviceNames are the names of registries in service discovery.
var serviceNames = map[kind]string{moduleKind: "modules.v1", componentKind: "components.v1"}

// Versions returns all versions of a package.
func (r *registryClient) Versions(ctx context.Context, id packageID) ([]string, error) {
	id.Version = ""
	r.mu.Lock()
	entry := r.mu.versions[id]
	if entry == nil {
		entry = &listed{}
		r.mu.versions[id] = entry
	}
	r.mu.Unlock()
	entry.once.Do(func() { entry.versions, entry.err = r.listVersions(ctx, id) })
	return entry.versions, entry.err
}

// versionList is how a registry lists versions: one element per package, of which only one is asked for.
type versionList struct {
	Versions []struct {
		Version string `json:"version"`
	} `json:"versions"`
}

func (r *registryClient) listVersions(ctx context.Context, id packageID) ([]string, error) {
	resp, err := r.request(ctx, id, "versions")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if resp.StatusCode != http.StatusOK {
		return nil, statusError(resp)
	}
	var answer struct {
		Modules    []versionList `json:"modules"`
		Components []versionList `json:"components"`
	}
	if err := decodeAnswer(ctx, resp, &answer); err != nil {
		return nil, err
	}
	var versions []string
	for _, list := range append(answer.Modules, answer.Components...) {
		for _, v := range list.Versions {
			versions = append(versions, v.Version)
		}
	}
	return versions, nil
}

// Location returns where the files of a version are.
func (r *registryClient) Location(ctx context.Context, id packageID) (sourceaddrs.RemoteSource, error) {
	resp, err := r.request(ctx, id, url.PathEscape(id.Version)+"/download")
	if err != nil {
		return sourceaddrs.RemoteSource{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	location := resp.Header.Get("X-Terraform-Get")
	switch {
	case resp.StatusCode == http.StatusOK && location == "":
		var answer struct {
			Location string `json:"location"`
		}
		if err := decodeAnswer(ctx, resp, &answer); err != nil {
			return sourceaddrs.RemoteSource{}, err
		}
		location = answer.Location
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNoContent:
		return sourceaddrs.RemoteSource{}, statusError(resp)
	}
	if location == "" {
		return sourceaddrs.RemoteSource{}, fmt.Errorf("%s does not say where version %s is", resp.Request.URL.Host, id.Version)
	}
	if strings.HasPrefix(location, "/") || strings.HasPrefix(location, "./") || strings.HasPrefix(location, "../") {
		relative, err := url.Parse(location)
		if err != nil {
			return sourceaddrs.RemoteSource{}, fmt.Errorf("%s gives a location for version %s that is not an address", resp.Request.URL.Host, id.Version)
		}
		location = resp.Request.URL.ResolveReference(relative).String()
	}
	addr, err := stackconfig.ParseSource(location)
	if err != nil {
		return sourceaddrs.RemoteSource{}, fmt.Errorf("%s gives a location for version %s that cannot be used: %w", resp.Request.URL.Host, id.Version, err)
	}
	remote, ok := addr.(sourceaddrs.RemoteSource)
	if !ok {
		return sourceaddrs.RemoteSource{}, fmt.Errorf("%s gives a location for version %s that is neither a repository nor an archive",
			resp.Request.URL.Host, id.Version)
	}
	return remote, nil
}

// request asks the registry of a package for something below the package's address. Refusals are errors.
func (r *registryClient) request(ctx context.Context, id packageID, below string) (*http.Response, error) {
	hostText, name, _ := strings.Cut(id.Address, "/")
	host, err := svchost.ForComparison(hostText)
	if err != nil {
		return nil, fmt.Errorf("%q is not a host name: %w", hostText, err)
	}
	config, err := r.config()
	if err != nil {
		return nil, err
	}
	base, err := r.service(ctx, host, serviceNames[id.Kind], config)
	if err != nil {
		return nil, err
	}
	location, err := base.Parse(path.Join(name, below))
	if err != nil {
		return nil, err
	}
	resp, err := get(ctx, r.client, location, config.Tokens[host])
	if err != nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		err = fmt.Errorf("the registry %s refuses access (%s); give it a token, in a credentials block of the CLI configuration or in %s",
			host.ForDisplay(), resp.Status, tokenVariable(host))
	case http.StatusNotFound:
		err = fmt.Errorf("the registry %s has no %s", host.ForDisplay(), id)
	}
	if err != nil {
		_ = resp.Body.Close() //nolint:errcheck // it was not read
		return nil, err
	}
	return resp, nil
}

// tokenVariable returns the name of the variable for the token of a host.
func tokenVariable(host svchost.Hostname) string {
	return cliconfig.TokenPrefix + strings.NewReplacer(".", "_", "-", "__").Replace(host.String())
}

// service returns the address of a service, which ends in a slash.
func (r *registryClient) service(ctx context.Context, host svchost.Hostname, service string, config *cliconfig.Hosts) (*url.URL, error) {
	services, base, err := config.Services[host], &url.URL{Scheme: "https", Host: host.String(), Path: "/"}, error(nil)
	if services == nil {
		services, base, err = r.discover(ctx, host, config.Tokens[host])
	}
	if err != nil {
		return nil, err
	}
	written, ok := services[service]
	if !ok {
		return nil, fmt.Errorf("the host %s has no registry for this kind of source (%s)", host.ForDisplay(), service)
	}
	if !strings.HasSuffix(written, "/") {
		written += "/"
	}
	address, err := base.Parse(written)
	if err != nil || address.Scheme != "https" {
		return nil, fmt.Errorf("the host %s gives an address for %s that is not an https address", host.ForDisplay(), service)
	}
	return address, nil
}

// discover asks a host for its services.
func (r *registryClient) discover(ctx context.Context, host svchost.Hostname, token string) (map[string]string, *url.URL, error) {
	r.mu.Lock()
	entry := r.mu.services[host]
	if entry == nil {
		entry = &discovered{}
		r.mu.services[host] = entry
	}
	r.mu.Unlock()
	entry.once.Do(func() { entry.services, entry.base, entry.err = r.askForServices(ctx, host, token) })
	return entry.services, entry.base, entry.err
}

func (r *registryClient) askForServices(ctx context.Context, host svchost.Hostname, token string) (map[string]string, *url.URL, error) {
	location := &url.URL{Scheme: "https", Host: host.String(), Path: "/.well-known/terraform.json"}
	resp, err := get(ctx, r.client, location, token)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if resp.StatusCode == http.StatusNotFound {
		return nil, nil, fmt.Errorf("the host %s has no registry: it does not offer service discovery", host.ForDisplay())
	}
	if resp.StatusCode != http.StatusOK {
		return nil, nil, statusError(resp)
	}
	var answer map[string]any
	if err := decodeAnswer(ctx, resp, &answer); err != nil {
		return nil, nil, err
	}
	services := map[string]string{}
	for name, value := range answer {
		if text, ok := value.(string); ok {
			services[name] = text
		}
	}
	return services, resp.Request.URL, nil
}

// decodeAnswer decodes the JSON in an answer.
func decodeAnswer(ctx context.Context, resp *http.Response, target any) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return requestError(ctx, resp.Request.URL, err)
	}
	if err := json.Unmarshal(data, target); err != nil {
		return fmt.Errorf("%s gives an answer that cannot be understood: %w", resp.Request.URL.Host, err)
	}
	return nil
}
