// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// maxDepth is how deep embedded stacks may be nested.
const maxDepth = 20

// Load reads the stack in dir and all the stacks that it embeds.
//
// The tree is returned even with errors, as far as it could be built: blocks
// with mistakes stay in it with safe placeholders, so that the evaluator can
// find further mistakes. It is nil only if dir itself could not be read.
//
// Diagnostics are sorted by place and name files as [Config.Files] does.
func Load(dir string) (*Config, hcl.Diagnostics) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, hcl.Diagnostics{unreadableDiagnostic(dir, err)}
	}
	return load(osFileSystem{}, abs)
}

func load(fsys fileSystem, dir string) (*Config, hcl.Diagnostics) {
	return loadWith(fsys, dir, LoadOptions{})
}

func loadWith(fsys fileSystem, dir string, opts LoadOptions) (*Config, hcl.Diagnostics) {
	realDir, err := fsys.RealPath(dir)
	if err != nil {
		return nil, hcl.Diagnostics{unreadableDiagnostic(dir, err)}
	}
	if opts.Parse == nil {
		opts.Parse = func(path, name string, src []byte) (*hcl.File, hcl.Diagnostics) {
			return parseFile(filepath.Base(path), name, src)
		}
	}
	l := &loader{
		fsys:        fsys,
		resolver:    opts.Resolver,
		parse:       opts.Parse,
		rootDir:     realDir,
		files:       map[string]*hcl.File{},
		paths:       map[string]string{},
		directories: map[string]*directory{},
		dirErrors:   map[string]error{},
		nodes:       map[stackaddrs.Stack]*node{},
		broken:      map[stackaddrs.Stack]bool{},
		claims:      map[stackaddrs.ConfigComponent]Source{},
		stackClaims: map[stackaddrs.Stack]Source{},
		reported:    map[hcl.Range]bool{},
	}
	decoded := l.directory(realDir)
	if decoded.err != nil {
		return nil, hcl.Diagnostics{unreadableDiagnostic(dir, decoded.err)}
	}
	root := l.add(stackaddrs.RootStack, nil, decoded)
	l.attachRemoved()
	l.checkRemovedComponents(root)
	l.warnOfFormerNames()
	moved := l.checkMoved(root)
	return &Config{
		Root: root, BaseDir: dir, FilesWithin: opts.FilesWithin, Files: l.files, Paths: l.paths, Moved: moved, Resolver: opts.Resolver,
	}, identity.Sort(l.diags)
}

func unreadableDiagnostic(dir string, err error) *hcl.Diagnostic {
	if errors.Is(err, fs.ErrNotExist) {
		return failure.New("No such stack directory", "Nothing was found at %s.", dir)
	}
	return failure.New("Stack source unreadable", "Reading %s failed: %s.", dir, err)
}

// loader builds one tree of stacks.
type loader struct {
	fsys        fileSystem
	resolver    Resolver // nil if there is none
	parse       func(path, name string, src []byte) (*hcl.File, hcl.Diagnostics)
	rootDir     string
	files       map[string]*hcl.File
	paths       map[string]string     // of files
	directories map[string]*directory // by absolute path
	dirErrors   map[string]error      // results of checkDir
	diags       hcl.Diagnostics

	nodes  map[stackaddrs.Stack]*node
	broken map[stackaddrs.Stack]bool // could not be loaded; reported

	// claims and stackClaims have the source that the first block with a target
	// gives for it.
	claims      map[stackaddrs.ConfigComponent]Source
	stackClaims map[stackaddrs.Stack]Source

	reported map[hcl.Range]bool // see report

	formerNames []string // of files that were read
}

// report adds a diagnostic about the tree. A directory that is embedded twice can
// have the same mistake in both places; it is reported once.
func (l *loader) report(diag *hcl.Diagnostic) {
	if !l.reported[*diag.Subject] {
		l.reported[*diag.Subject] = true
		l.diags = append(l.diags, diag)
	}
}

// node is a stack of the tree with data that only loading needs.
type node struct {
	stack    *Stack
	caller   *node // nil for the root
	realPath string
}

// add makes the stack at an address from its decoded directory, and the stacks
// that it calls.
func (l *loader) add(addr stackaddrs.Stack, caller *node, decoded *directory) *Stack {
	stack := decoded.stack // a copy: stacks of one directory share the declarations
	stack.Addr = addr
	stack.Children = map[string]*Stack{}
	n := &node{stack: &stack, caller: caller, realPath: decoded.realPath}
	l.nodes[addr] = n
	for _, name := range slices.Sorted(maps.Keys(stack.Calls)) {
		l.stackClaims[addr.Child(name)] = stack.Calls[name].Source
		l.embed(n, name, stack.Calls[name].Source)
	}
	return &stack
}

// embed loads a child of a stack.
func (l *loader) embed(parent *node, name string, source Source) {
	addr := parent.stack.Addr.Child(name)
	if source.Dir == "" {
		l.broken[addr] = true
		return
	}
	decoded := l.directory(source.Dir)
	if decoded.err != nil {
		l.broken[addr] = true
		diag := unreadableDiagnostic(l.place(source.Dir), decoded.err)
		diag.Subject = source.Range.Ptr()
		l.report(diag)
		return
	}
	if reason := tooDeep(parent, addr, decoded); reason != "" {
		l.broken[addr] = true
		l.report(failure.At(source.Range, "Stacks nested too deeply", "%s The callers are: %s.", reason, chain(parent, addr, source)))
		return
	}
	parent.stack.Children[name] = l.add(addr, parent, decoded)
}

// tooDeep says why a stack cannot be embedded at an address, or "". A stack that
// includes itself would be nested without end, so it is not followed any further.
func tooDeep(parent *node, addr stackaddrs.Stack, decoded *directory) string {
	for n := parent; n != nil; n = n.caller {
		if n.realPath == decoded.realPath {
			return fmt.Sprintf("%s is the directory of %s, which contains this call, so the nesting would never end.", addr, n.stack.Addr)
		}
	}
	if addr.Depth() > maxDepth {
		return fmt.Sprintf("%s is more than %d levels below the root stack.", addr, maxDepth)
	}
	return ""
}

// chain lists the calls that lead to a stack.
func chain(parent *node, addr stackaddrs.Stack, source Source) string {
	links := []string{fmt.Sprintf("%s at %s", addr, place(source.Range))}
	for n := parent; n != nil; n = n.caller {
		links = append(links, n.stack.Addr.String())
	}
	slices.Reverse(links)
	return strings.Join(links, ", ")
}

// place returns the position of a range as users read it.
func place(rng hcl.Range) string {
	return fmt.Sprintf("%s line %d", rng.Filename, rng.Start.Line)
}

// place returns how messages name a directory: by its source address if it is part of a package.
func (l *loader) place(dir string) string {
	if l.resolver != nil {
		if place, ok := l.resolver.Locate(dir); ok {
			return place.Address
		}
	}
	return dir
}

// displayName returns the name of a file or directory in diagnostics.
func (l *loader) displayName(path string) string {
	if l.resolver != nil {
		if place, ok := l.resolver.Locate(path); ok {
			return place.Address
		}
	}
	rel, err := filepath.Rel(l.rootDir, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}

// checkDir returns why a path is not a directory, or nil.
func (l *loader) checkDir(path string) error {
	if err, ok := l.dirErrors[path]; ok {
		return err
	}
	info, err := l.fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("there is no such directory")
	case err == nil && !info.IsDir():
		err = errors.New("this is a file, not a directory")
	}
	l.dirErrors[path] = err
	return err
}
