// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package release identifies the publications of providers: a package is of one provider, one
// version and one platform, and has hashes.
package release

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	tfaddr "github.com/hashicorp/terraform-registry-address"
	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// ID identifies a release: a version of a provider, on all platforms.
type ID struct {
	Provider stackaddrs.Provider
	Version  versions.Version
}

// String returns the address and the version, for messages.
func (id ID) String() string { return Short(id.Provider) + " " + id.Version.String() }

// ParseProvider parses the source address of a provider as it is written in configurations: the
// host and the namespace may be left out.
func ParseProvider(text string) (stackaddrs.Provider, error) {
	parsed, err := tfaddr.ParseProviderSource(text)
	if err != nil {
		return stackaddrs.Provider{}, fmt.Errorf("%q is not the source address of a provider, such as hashicorp/time: %w", text, reason(err))
	}
	if !parsed.HasKnownNamespace() {
		parsed.Namespace = "hashicorp"
	}
	if parsed.IsLegacy() {
		return stackaddrs.Provider{}, fmt.Errorf("%q is not the source address of a provider: it has no namespace", text)
	}
	return stackaddrs.Provider{Hostname: string(parsed.Hostname), Namespace: parsed.Namespace, Type: parsed.Type}, nil
}

// reason returns the part of an error of the library that people read.
func reason(err error) error {
	if parse, ok := errors.AsType[*tfaddr.ParserError](err); ok {
		return errors.New(strings.TrimSuffix(parse.Detail, "."))
	}
	return err
}

// Short returns the address of a provider without the host if that is the default one.
func Short(provider stackaddrs.Provider) string { return address(provider).ForDisplay() }

func address(provider stackaddrs.Provider) tfaddr.Provider {
	return tfaddr.Provider{Hostname: svchost.Hostname(provider.Hostname), Namespace: provider.Namespace, Type: provider.Type}
}

// CompareProviders sorts providers as lock files do.
func CompareProviders(a, b stackaddrs.Provider) int {
	return cmp.Or(strings.Compare(a.Hostname, b.Hostname), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Type, b.Type))
}

// ParseVersion parses an exact version.
func ParseVersion(text string) (versions.Version, error) {
	version, err := versions.ParseVersion(text)
	if err != nil {
		return version, fmt.Errorf("%q is not an exact version, such as 1.2.3: %w", text, err)
	}
	return version, nil
}

// Platform is an operating system and a kind of processor.
type Platform struct{ OS, Arch string }

// CurrentPlatform is that of this program.
var CurrentPlatform = Platform{runtime.GOOS, runtime.GOARCH}

var platformPattern = regexp.MustCompile(`^([0-9A-Za-z]+)_([0-9A-Za-z]+)$`)

// ParsePlatform parses a platform as it is in the names of packages: linux_amd64.
func ParsePlatform(text string) (Platform, error) {
	parts := platformPattern.FindStringSubmatch(text)
	if parts == nil {
		return Platform{}, fmt.Errorf("%q is not a platform, such as linux_amd64", text)
	}
	return Platform{parts[1], parts[2]}, nil
}

// String returns the form that [ParsePlatform] parses.
func (p Platform) String() string { return p.OS + "_" + p.Arch }

// ComparePlatforms sorts platforms.
func ComparePlatforms(a, b Platform) int { return strings.Compare(a.String(), b.String()) }

// Compare sorts releases by provider and version.
func Compare(a, b ID) int {
	return cmp.Or(CompareProviders(a.Provider, b.Provider), CompareVersions(a.Version, b.Version))
}

// CompareVersions sorts versions by precedence, and those of the same precedence by their metadata.
func CompareVersions(a, b versions.Version) int {
	switch {
	case a.LessThan(b):
		return -1
	case b.LessThan(a):
		return 1
	default:
		return strings.Compare(string(a.Metadata), string(b.Metadata))
	}
}
