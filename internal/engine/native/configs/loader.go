// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package configs

import (
	"path/filepath"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Loader decodes modules that a [module.Loader] reads. Safe for concurrent use.
type Loader struct {
	modules *module.Loader

	mu struct {
		sync.Mutex
		decoded map[*module.Directory]*decodedDirectory
		trees   map[*module.Tree]*loadedTree
	}
}

type decodedDirectory struct {
	once   sync.Once
	module *Module
	diags  hcl.Diagnostics
}

type loadedTree struct {
	once  sync.Once
	tree  *Tree
	diags hcl.Diagnostics
}

// NewLoader returns a loader that has decoded nothing yet.
func NewLoader(modules *module.Loader) *Loader {
	l := &Loader{modules: modules}
	l.mu.decoded = map[*module.Directory]*decodedDirectory{}
	l.mu.trees = map[*module.Tree]*loadedTree{}
	return l
}

// Load decodes the module in a directory and all the modules that it calls. The caller must not
// change the results.
//
// The tree is nil only if there is no module. With other error diagnostics it has the parts that
// could be understood. Features that the engine does not support are no mistakes, and only in
// [Module.Unsupported].
func (l *Loader) Load(dir string) (*Tree, hcl.Diagnostics) {
	read, diags := l.modules.Load(dir)
	if read == nil || read.Unsupported.HasErrors() {
		return nil, diags
	}
	l.mu.Lock()
	entry := l.mu.trees[read]
	if entry == nil {
		entry = &loadedTree{}
		l.mu.trees[read] = entry
	}
	l.mu.Unlock()

	entry.once.Do(func() {
		entry.tree, entry.diags = l.build(read)
		entry.diags = WithoutRepeats(append(diags, entry.diags...))
	})
	return entry.tree, entry.diags[:len(entry.diags):len(entry.diags)]
}

// module decodes a directory (rule C1).
func (l *Loader) module(dir *module.Directory) (*Module, hcl.Diagnostics) {
	l.mu.Lock()
	entry := l.mu.decoded[dir]
	if entry == nil {
		entry = &decodedDirectory{}
		l.mu.decoded[dir] = entry
	}
	l.mu.Unlock()

	entry.once.Do(func() { entry.module, entry.diags = decodeModule(dir) })
	return entry.module, entry.diags
}

// build makes the tree of calls. The nodes are sorted by key, so that callers come first.
func (l *Loader) build(read *module.Tree) (*Tree, hcl.Diagnostics) {
	b := &treeBuilder{loader: l, read: read, reported: map[*module.Directory]bool{}}
	trees := map[string]*Tree{"": b.tree(read.Root, nil)}
	root := trees[""]
	root.Path, root.Place = ".", "."
	for _, node := range read.Nodes {
		above, name := "", node.Key
		if i := strings.LastIndexByte(node.Key, '.'); i >= 0 {
			above, name = node.Key[:i], node.Key[i+1:]
		}
		parent := trees[above]
		if parent == nil {
			continue
		}
		child := b.tree(node.Directory, node)
		child.Parent, child.Call, child.Path = parent, parent.Calls[name], node.Path
		child.Place = placeOf(read.Root, node)
		parent.Children[name] = child
		trees[node.Key] = child
	}
	return root, b.diags
}

// placeOf returns the path of a called module from that of the root.
func placeOf(root *module.Directory, node *module.Node) string {
	if node.Mounted() == nil {
		return node.Path
	}
	path, err := filepath.Rel(root.Path, node.Directory.Path)
	if err != nil {
		return filepath.ToSlash(node.Directory.Path)
	}
	return filepath.ToSlash(path)
}

type treeBuilder struct {
	loader   *Loader
	read     *module.Tree
	reported map[*module.Directory]bool
	diags    hcl.Diagnostics
}

func (b *treeBuilder) tree(dir *module.Directory, node *module.Node) *Tree {
	decoded, diags := b.loader.module(dir)
	if !b.reported[dir] {
		b.reported[dir] = true
		b.diags = append(b.diags, diags...)
		if node != nil { // in the root, the reader has reported them
			b.diags = append(b.diags, dir.WithoutBackends("backend")...)
		}
	}
	tree := &Tree{
		Module: decoded, Children: make(map[string]*Tree, len(decoded.Calls)), Slots: map[engine.ProviderSlot]engine.ProviderSlot{},
		Faulty: b.read.Faulty[dir] || diags.HasErrors(),
	}
	for slot := range dir.ProviderUses {
		if root, ok := b.read.RootSlot(node, slot); ok {
			tree.Slots[slot] = root
		}
	}
	return tree
}

// WithoutRepeats omits diagnostics that say the same of the same place: some mistakes are found by
// the reader of files, too, and some in each call of a module.
func WithoutRepeats(diags hcl.Diagnostics) hcl.Diagnostics {
	type identity struct {
		summary, detail string
		at              hcl.Range
	}
	seen := make(map[identity]bool, len(diags))
	kept := diags[:0:0]
	for _, diag := range diags {
		id := identity{summary: diag.Summary, detail: diag.Detail}
		if diag.Subject != nil {
			id.at = *diag.Subject
		}
		if !seen[id] {
			seen[id] = true
			kept = append(kept, diag)
		}
	}
	return kept
}
