// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package registry

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"
)

// Package is a package in a registry of modules or components. That of components has the protocol
// of that of modules, with two parts in the path.
type Package struct {
	Service string // [Modules] or [Components]
	Host    svchost.Hostname
	Path    string // the address without the host
}

func (p Package) String() string { return p.Host.ForDisplay() + "/" + p.Path }

// versionList is how a registry lists versions: one element per package, of which only one is asked
// for.
type versionList struct {
	Versions []struct {
		Version string `json:"version"`
	} `json:"versions"`
}

// Versions returns all versions of a package, in the order of the registry.
func (c *Client) Versions(ctx context.Context, pkg Package) ([]string, error) {
	resp, err := c.Request(ctx, pkg.Host, pkg.Service, pkg.Path+"/versions", pkg.String())
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if resp.StatusCode != http.StatusOK {
		return nil, StatusError(resp)
	}
	var answer struct {
		Modules    []versionList `json:"modules"`
		Components []versionList `json:"components"`
	}
	if err := Decode(ctx, resp, &answer); err != nil {
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

// Location returns where the files of a version are: a source address, as it is written for a
// module. It may have secrets in it (rule G2).
func (c *Client) Location(ctx context.Context, pkg Package, version string) (string, error) {
	resp, err := c.Request(ctx, pkg.Host, pkg.Service, path.Join(pkg.Path, url.PathEscape(version), "download"), pkg.String()+" "+version)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	location := resp.Header.Get("X-Terraform-Get")
	switch {
	case resp.StatusCode == http.StatusOK && location == "":
		var answer struct {
			Location string `json:"location"`
		}
		if err := Decode(ctx, resp, &answer); err != nil {
			return "", err
		}
		location = answer.Location
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNoContent:
		return "", StatusError(resp)
	}
	if location == "" {
		return "", fmt.Errorf("%s does not say where version %s is", resp.Request.URL.Host, version)
	}
	if strings.HasPrefix(location, "/") || strings.HasPrefix(location, "./") || strings.HasPrefix(location, "../") {
		relative, err := url.Parse(location)
		if err != nil {
			return "", fmt.Errorf("%s gives a location for version %s that is not an address", resp.Request.URL.Host, version)
		}
		location = resp.Request.URL.ResolveReference(relative).String()
	}
	return location, nil
}
