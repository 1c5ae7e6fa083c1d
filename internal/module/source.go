// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-slug/sourceaddrs"
	"github.com/hashicorp/hcl/v2"
	tfaddr "github.com/hashicorp/terraform-registry-address"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// packagesDir is where init puts the packages of module calls.
const packagesDir = ".terraform/modules"

// newNode returns the node of a root module.
func newNode(dir *Directory) *Node {
	return &Node{
		Directory: dir, Path: ".", Place: ".", Children: make(map[string]*Node, len(dir.Calls)),
		Slots: map[engine.ProviderSlot]engine.ProviderSlot{},
	}
}

// target returns the node for a call of an address, of whose directory only the path is known.
func (l *Loader) target(caller *Node, call *Call, to address) (*Node, *hcl.Diagnostic) {
	node := newNode(&Directory{})
	node.Key, node.Parent, node.Call, node.Constraint = call.Name, caller, call, to.version
	if caller.Parent != nil {
		node.Key = caller.Key + "." + call.Name
	}
	if isLocal(to.source) {
		if diag := checkConstraint(call, to, false); diag != nil {
			return nil, diag
		}
		dir := filepath.Join(caller.Dir, filepath.FromSlash(to.source))
		if err := stackconfig.LeadsOut(l.opts.Resolver, caller.Dir, dir); err != nil {
			return nil, unresolved(call, to, err)
		}
		node.Source, node.Directory, node.Path = cleanLocal(to.source), &Directory{Dir: dir}, path.Join(caller.Path, to.source)
		return node, nil
	}
	addr, err := stackconfig.ParseSource(to.source)
	if err != nil {
		return nil, sourceError(call, "Unusable source address", fmt.Sprintf("%q is not an address we understand: %s.", to.source, err))
	}
	if diag := checkKind(call, to, addr); diag != nil {
		return nil, diag
	}
	if l.opts.Resolver == nil {
		return nil, sourceError(call, "Module source not supported", fmt.Sprintf(
			"Module call %q takes its module from %q. Only local directories can be used without prepared source packages.", call.Name, to.source))
	}
	resolved, err := l.resolve(node.Key, addr, to.version)
	if err != nil {
		return nil, unresolved(call, to, err)
	}
	place, ok := l.opts.Resolver.Locate(resolved.Dir)
	if !ok {
		return nil, unresolved(call, to, fmt.Errorf("its directory %s is in no package", resolved.Dir))
	}
	below, err := filepath.Rel(place.Package, resolved.Dir)
	if err != nil {
		return nil, unresolved(call, to, err)
	}
	node.Directory = &Directory{Dir: resolved.Dir}
	node.Source, node.Version = l.recorded(to.source, addr), resolved.Version
	node.Package, node.Mount = place.Package, path.Join(packagesDir, node.Key)
	node.Path = path.Join(node.Mount, filepath.ToSlash(below))
	return node, nil
}

// placeOf returns the path of a called module from that of the root.
func placeOf(root *Node, node *Node) string {
	if node.Mounted() == nil {
		return node.Path
	}
	path, err := filepath.Rel(root.Dir, node.Dir)
	if err != nil {
		return filepath.ToSlash(node.Dir)
	}
	return filepath.ToSlash(path)
}

// CallResolver is a [stackconfig.Resolver] that has recorded for each call where it leads to, as
// init does.
type CallResolver interface {
	stackconfig.Resolver

	// ResolveCall is Resolve for one call, which is named by those from the root module on, with dots
	// between.
	ResolveCall(call string, source sourceaddrs.Source, version string) (stackconfig.Resolved, error)
}

func (l *Loader) resolve(call string, source sourceaddrs.Source, version string) (stackconfig.Resolved, error) {
	if recorded, ok := l.opts.Resolver.(CallResolver); ok {
		return recorded.ResolveCall(call, source, version)
	}
	return l.opts.Resolver.Resolve(source, version)
}

// isLocal reports whether a source is a path. The engine is less strict about how it is written
// than the stacks language: there may be a slash at its end.
func isLocal(source string) bool {
	return strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../") || source == "." || source == ".."
}

// cleanLocal returns a path as the engine records it.
func cleanLocal(source string) string {
	switch clean := path.Clean(source); {
	case clean == "." || clean == "..":
		return clean + "/"
	case strings.HasPrefix(clean, "../"):
		return clean
	default:
		return "./" + clean
	}
}

// checkKind makes the checks of an address that need no resolving. Unlike in stacks, the version of
// a module from a registry may be left open.
func checkKind(call *Call, to address, addr sourceaddrs.Source) *hcl.Diagnostic {
	if _, ok := addr.(sourceaddrs.ComponentSource); ok {
		return sourceError(call, "Unusable source address", fmt.Sprintf(
			"%q is an address in a component registry, which has stacks and no modules. Local paths start with ./ or ../.", to.source))
	}
	return checkConstraint(call, to, addr.SupportsVersionConstraints())
}

// checkConstraint reports a version argument, whatever its value is, where there is nothing to
// select a version from.
func checkConstraint(call *Call, to address, selectable bool) *hcl.Diagnostic {
	if !to.constrained || selectable {
		return nil
	}
	return sourceError(call, "Version constraint not applicable", "Only registry sources can be constrained by version. Remove the version "+
		"argument.")
}

// recorded returns a source as the engine records it in its list of modules. It writes queries of
// archives as they are, where our parser has a normal form for them.
func (l *Loader) recorded(written string, addr sourceaddrs.Source) string {
	registry, ok := addr.(sourceaddrs.RegistrySource)
	switch {
	case !ok && strings.HasPrefix(written, "https://"):
		return written
	case !ok:
		return addr.String()
	}
	pkg := registry.Package()
	host := pkg.Host.String()
	named := strings.HasPrefix(strings.ToLower(written), host+"/")
	if l.opts.Tofu && pkg.Host == tfaddr.DefaultModuleRegistryHost && !named {
		host = toolchain.TofuRegistry
	}
	source := path.Join(host, pkg.Namespace, pkg.Name, pkg.TargetSystem)
	if below := registry.SubPath(); below != "" {
		source += "//" + below
	}
	return source
}

func unresolved(call *Call, to address, err error) *hcl.Diagnostic {
	return stackconfig.SourceProblem(to.source, "this module", call.SourceRange, err)
}

func sourceError(call *Call, summary, detail string) *hcl.Diagnostic {
	return failure.At(call.SourceRange, summary, "%s", detail)
}
