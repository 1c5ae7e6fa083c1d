// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"

	"github.com/hashicorp/go-slug/sourceaddrs"
	"github.com/hashicorp/go-version"
)

// kind says how a package is found. The values are the block types of the lock file.
type kind string

const (
	remoteKind    kind = "remote"    // a repository or archive
	moduleKind    kind = "module"    // in a module registry
	componentKind kind = "component" // in a component registry
)

// packageID identifies a package.
type packageID struct {
	Kind    kind   `json:"kind"`
	Address string `json:"address"`           // without path below the package
	Version string `json:"version,omitempty"` // of registry packages
}

func (id packageID) String() string {
	if id.Version == "" {
		return id.Address
	}
	return id.Address + " " + id.Version
}

func comparePackages(a, b packageID) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Address, b.Address), compareVersions(a.Version, b.Version))
}

func compareVersions(a, b string) int {
	first, err1 := version.NewVersion(a)
	second, err2 := version.NewVersion(b)
	if err1 != nil || err2 != nil {
		return cmp.Compare(a, b)
	}
	return first.Compare(second)
}

// lockedPackage is the entry of the lock file for a package.
type lockedPackage struct {
	packageID
	Commit string `json:"commit,omitempty"` // of the repository it is from
	Hash   string `json:"hash"`             // of its files
}

// preparedPackage is a package in the directory.
type preparedPackage struct {
	lockedPackage
	Dir string `json:"dir"` // name in the directory of all packages

	// Root is the path in the package that the registry's entry stands for, or empty.
	Root string `json:"root,omitempty"`
}

// splitSource returns the package that a source leads into, without a version, and the path there.
func splitSource(source sourceaddrs.Source) (id packageID, below string) {
	switch source := source.(type) {
	case sourceaddrs.RemoteSource:
		return packageID{Kind: remoteKind, Address: source.Package().String()}, source.SubPath()
	case sourceaddrs.RegistrySource:
		pkg := source.Package()
		return packageID{Kind: moduleKind, Address: path.Join(pkg.Host.String(), pkg.Namespace, pkg.Name, pkg.TargetSystem)}, source.SubPath()
	case sourceaddrs.ComponentSource:
		pkg := source.Package()
		return packageID{Kind: componentKind, Address: path.Join(pkg.Host.String(), pkg.Namespace, pkg.Name)}, source.SubPath()
	default:
		panic("local sources have no package: " + source.String())
	}
}

// addressOf returns the source address of a slash-separated path in the package, relative to its
// directory.
func (p *preparedPackage) addressOf(below string) string {
	prefix, suffix := p.affixes()
	if p.Kind != remoteKind {
		below = relative(p.Root, below)
	}
	if below == "." || below == "" {
		return strings.TrimSuffix(prefix, "//") + suffix
	}
	return prefix + below + suffix
}

// pathOf is the inverse of addressOf.
func (p *preparedPackage) pathOf(address string) (below string, ok bool) {
	prefix, suffix := p.affixes()
	rest, hasPrefix := strings.CutPrefix(address, prefix)
	rest, hasSuffix := strings.CutSuffix(rest, suffix)
	if !hasPrefix || !hasSuffix {
		return "", false
	}
	if p.Kind != remoteKind {
		rest = path.Join(p.Root, rest)
	}
	return rest, true
}

// affixes are the texts before and after the path in source addresses.
func (p *preparedPackage) affixes() (prefix, suffix string) {
	if p.Kind != remoteKind {
		return p.Address + "@" + p.Version + "//", ""
	}
	prefix, query, ok := strings.Cut(p.Address, "?")
	if ok {
		suffix = "?" + query
	}
	return prefix + "//", suffix
}

// relative is like [filepath.Rel] for slash-separated relative paths without dots at their start.
func relative(base, target string) string {
	if base == "" || base == "." {
		return target
	}
	steps := strings.Split(base, "/")
	rest := strings.Split(target, "/")
	for len(steps) > 0 && len(rest) > 0 && steps[0] == rest[0] {
		steps, rest = steps[1:], rest[1:]
	}
	return path.Join(strings.Repeat("../", len(steps)), path.Join(rest...))
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9._]+`)

// dirName returns the name of a package's directory: something people recognise, and something that
// is different for other packages and other content (rule B3).
func dirName(id packageID, hash string) string {
	address, _, _ := strings.Cut(id.Address, "?")
	parts := strings.Split(address, "/")
	name := parts[len(parts)-1]
	if id.Kind == moduleKind {
		name = parts[len(parts)-2] + "-" + name
	}
	for _, suffix := range []string{".git", ".tgz", ".tar.gz"} {
		name = strings.TrimSuffix(name, suffix)
	}
	name = strings.Trim(notInName.ReplaceAllString(name, "-"), "-.")
	if id.Version != "" {
		name += "-" + notInName.ReplaceAllString(id.Version, "-")
	}
	sum := sha256.Sum256([]byte(string(id.Kind) + "\x00" + id.Address + "\x00" + id.Version + "\x00" + hash))
	return name[:min(len(name), 60)] + "-" + hex.EncodeToString(sum[:6])
}
