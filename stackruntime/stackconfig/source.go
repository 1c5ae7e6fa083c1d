// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-slug/sourceaddrs"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
)

// source decodes the source and version arguments of a block. The source must lead to the object
// named by the last argument: "module" or "stack".
func (d *decoder) source(content *hcl.BodyContent, what string) Source {
	attr, ok := content.Attributes["source"]
	if !ok {
		return Source{Range: content.MissingItemRange}
	}
	source := Source{Range: attr.Expr.Range()}
	if source.Written, ok = d.literalString(attr); !ok {
		return source
	}
	addr, err := ParseSource(source.Written)
	if err != nil {
		d.errorf(source.Range, "Unusable source address", "%q is not an address we understand: %s.%s",
			source.Written, err, d.localSource(source.Written))
		return source
	}
	if !d.sourceVersion(&source, addr, content.Attributes["version"]) {
		return source
	}
	dir, ok := d.resolve(source, addr)
	if !ok {
		return source
	}
	if err := d.loader.checkDir(dir); err != nil {
		summary := "Source cannot be used here"
		if what == "stack" {
			summary = "No such stack directory"
		}
		d.errorf(source.Range, summary, "The source %q leads from this stack to %s, but %s.", source.Written, d.loader.place(dir), err)
		return source
	}
	source.Dir = dir
	return source
}

// localSource says how to write a local source correctly. In modules that mistake is as common.
func (d *decoder) localSource(written string) string {
	if path.IsAbs(written) || strings.ContainsAny(written, ":?") {
		return ""
	}
	if first, _, _ := strings.Cut(written, "/"); first == "." || first == ".." {
		return "" // the error has the canonical form
	}
	local := path.Clean(written)
	switch {
	case local == "." || local == "..":
		local += "/"
	case !strings.HasPrefix(local, "../"):
		local = "./" + local
	}
	if d.loader.checkDir(filepath.Join(d.stack.Dir, filepath.FromSlash(local))) == nil {
		return fmt.Sprintf(" There is a directory of that name: write %q.", local)
	}
	if !strings.Contains(written, "/") {
		return ` A local source begins with "./" or "../".`
	}
	return ""
}

// resolve returns the directory that a source leads to.
func (d *decoder) resolve(source Source, addr sourceaddrs.Source) (dir string, ok bool) {
	var err error
	switch local, isLocal := addr.(sourceaddrs.LocalSource); {
	case isLocal:
		dir = filepath.Join(d.stack.Dir, filepath.FromSlash(local.RelativePath()))
		err = LeadsOut(d.loader.resolver, d.stack.Dir, dir)
	case d.loader.resolver == nil:
		d.errorf(source.Range, "Source cannot be used here",
			"Only local sources can be used without prepared source packages, and %q is %s.", source.Written, sourceKind(addr))
		return "", false
	default:
		var resolved Resolved
		resolved, err = d.loader.resolver.Resolve(addr, source.Version)
		dir = resolved.Dir
	}
	if err != nil {
		d.diags = append(d.diags, SourceProblem(source.Written, "this stack", source.Range, err))
		return "", false
	}
	return dir, true
}

// sourceVersion decodes the version argument that belongs to a source and reports whether it is
// there exactly if the kind of source has versions.
func (d *decoder) sourceVersion(source *Source, addr sourceaddrs.Source, attr *hcl.Attribute) bool {
	switch {
	case addr.SupportsVersionConstraints() && attr == nil:
		d.errorf(source.Range, "Version constraint needed", "Registry sources must state the acceptable versions in the version argument.%s",
			d.localSource(source.Written))
		return false
	case attr == nil:
		return true
	case !addr.SupportsVersionConstraints():
		d.errorf(attr.NameRange, "Version constraint not applicable",
			"Only registry sources can be constrained by version. Remove the version argument.")
		return false
	}
	source.Version = d.versionConstraint(attr)
	return source.Version != ""
}

func sourceKind(addr sourceaddrs.Source) string {
	switch addr := addr.(type) {
	case sourceaddrs.RegistrySource:
		return "an address in a module registry"
	case sourceaddrs.ComponentSource:
		return "an address in a component registry"
	case sourceaddrs.RemoteSource:
		return fmt.Sprintf("a remote address (%s)", addr.Package())
	default:
		return "not local"
	}
}

// disagreement returns a diagnostic if a block gives another source for a
// target than the one already known. Sources that could not be resolved were
// reported and agree with everything.
func disagreement(target fmt.Stringer, known, given Source) *hcl.Diagnostic {
	if known.Dir == "" || given.Dir == "" || known.Dir == given.Dir {
		return nil
	}
	return failure.At(given.Range, "Conflicting sources", "%s already uses source %q, at %s; this block says %q. All blocks for one target "+
		"must agree.", target, known.Written, place(known.Range), given.Written)
}
