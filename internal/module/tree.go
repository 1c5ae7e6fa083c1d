// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Tree is a module with all the modules that it calls.
type Tree struct {
	Root  *Node
	Nodes []*Node // all calls below the root, sorted by key

	// Package is the directory of the source package that the root is in, or empty.
	Package string

	Module *engine.Module

	// Unsupported are the errors about modules of the tree that are for other versions of terraform.
	// If there are any, loading the tree reports nothing else.
	Unsupported hcl.Diagnostics

	// Older is the constraint of a module on the version of terraform that excludes the newest one
	// whose language the native engine has, so that it does them as the oldest does; nil without one.
	Older *VersionConstraint

	// DataProviders are the slots through which data sources of the tree are read.
	DataProviders map[engine.ProviderSlot]bool

	// Faulty are the directories that no engine can load, as their files could not be read whole or
	// they call a module whose source cannot be used.
	Faulty map[*Directory]bool

	// Missing are the calls of local directories that are not there.
	Missing []*Node

	// Constants are the values of the root's constant variables, as far as they are known. The calls
	// of the tree may depend on them.
	Constants map[string]cty.Value

	// Cycle is set if a module calls itself. The tree ends there.
	Cycle bool

	// StandIns take the place of modules; see [Tree.StandIn].
	StandIns []StandIn

	strict hcl.Diagnostics // of the directories, each once
}

// Node is a module in its place in the tree of calls.
type Node struct {
	*Directory

	Parent   *Node // nil for the root
	Call     *Call // nil for the root
	Children map[string]*Node

	Key     string // names of the calls from the root down, joined with dots; empty for the root
	Source  string // as the engine writes it
	Version string // selected version of a registry source

	Constraint string // version argument of the call, or empty

	// Path is where the directory is in a working copy, and the value of path.module: a
	// slash-separated path relative to that of the root module.
	Path string

	// Place leads to the directory from that of the root module where there is no working copy, which
	// has packages that are called at other places.
	Place string

	// Package is the directory of the package that the call leads into, and Mount where the
	// package is in a working copy. Both are empty for calls of local directories.
	Package, Mount string

	// Slots are the root's slots from which the provider configurations of this module are filled, by
	// their names here. Those that lead nowhere are missing.
	Slots map[engine.ProviderSlot]engine.ProviderSlot

	// Faulty says that the module could not be read whole, or has mistakes that keep it from being
	// understood.
	Faulty bool
}

// At returns the module that a path of calls from here leads to, or nil if there is none.
func (n *Node) At(path stackaddrs.ModuleInstance) *Node {
	for _, step := range path.Path() {
		if n = n.Children[step.Name]; n == nil {
			return nil
		}
	}
	return n
}

// Sound returns the tree without called modules that are faulty, and without modules that only they
// call. Calls of them are as those of modules that are not there, of whose variables and outputs
// nothing is known.
func (n *Node) Sound() *Node { return n.sound(nil) }

func (n *Node) sound(parent *Node) *Node {
	cut := *n
	cut.Parent, cut.Children = parent, make(map[string]*Node, len(n.Children))
	for name, child := range n.Children {
		if !child.Faulty {
			cut.Children[name] = child.sound(&cut)
		}
	}
	return &cut
}

// Mounted returns the call that leads into the package that the node is in, or nil if the node is
// next to the root.
func (n *Node) Mounted() *Node {
	for n != nil && n.Mount == "" {
		n = n.Parent
	}
	return n
}

// Bare returns a tree of which nothing is left but the provider configurations that its root takes.
// For the engine all objects of the module's state are such that the configuration has no more.
func (t *Tree) Bare() *Tree {
	module := *t.Module
	module.Variables, module.Outputs = nil, nil
	return &Tree{Root: &Node{Directory: newDirectory(t.Root.Dir)}, Module: &module}
}

// Called returns each directory that the root calls once.
func (t *Tree) Called() []*Directory {
	var called []*Node
	for _, node := range t.Nodes {
		if node.Parent == t.Root {
			called = append(called, node)
		}
	}
	return appendDirectories(nil, called)
}

// Directories returns each directory of the tree once, the root's first.
func (t *Tree) Directories() []*Directory {
	return appendDirectories([]*Directory{t.Root.Directory}, t.Nodes)
}

// appendDirectories appends each directory of nodes that is not there yet.
func appendDirectories(dirs []*Directory, nodes []*Node) []*Directory {
	seen := make(map[*Directory]bool, len(dirs))
	for _, dir := range dirs {
		seen[dir] = true
	}
	for _, node := range nodes {
		if !seen[node.Directory] {
			seen[node.Directory] = true
			dirs = append(dirs, node.Directory)
		}
	}
	return dirs
}

// Tofu returns the first sign that a directory of the tree is for tofu, or nil.
func (t *Tree) Tofu() *hcl.Range {
	for _, dir := range t.Directories() {
		if dir.Tofu != nil {
			return dir.Tofu
		}
	}
	return nil
}

// loadTree follows the calls of a root module.
func (l *Loader) loadTree(path string) (*Tree, hcl.Diagnostics) {
	root, diags := l.directory(path)
	if root == nil {
		return nil, diags
	}
	if len(root.Files) == 0 && !diags.HasErrors() { // a module that is called may be empty
		return nil, hcl.Diagnostics{noModule(l.display(path), "The directory holds no .tf or .tf.json files.")}
	}
	tree := &Tree{Root: newNode(root), Faulty: map[*Directory]bool{}}
	if diags.HasErrors() {
		tree.Faulty[root] = true
	}
	if l.opts.Resolver != nil {
		if place, ok := l.opts.Resolver.Locate(path); ok {
			tree.Package = place.Package
		}
	}
	if !l.opts.Standalone {
		diags = diags.Extend(configuredInRoot(root))
	}
	if l.opts.Constants == nil {
		diags = diags.Extend(constantInRoot(root))
	}
	diags = diags.Extend(forbiddenInRoot(root))
	if !l.opts.EphemeralOutputs {
		diags = diags.Extend(ephemeralOutputs(root))
	}
	f := &follower{Loader: l, tree: tree, seen: map[*Directory]bool{root: true}, found: map[mistake]bool{}}
	known := f.constants(tree.Root)
	var unknown hcl.Diagnostics
	if l.opts.Constants != nil {
		unknown = known.ofRoot()
		tree.Constants = known.variables
	}
	if diags = diags.Extend(unknown); unknown.HasErrors() {
		tree.Faulty[root] = true // it is not known what it calls
	} else {
		diags = diags.Extend(f.follow(known))
	}
	slices.SortFunc(tree.Nodes, func(a, b *Node) int { return cmp.Compare(a.Key, b.Key) })
	tree.describe()
	tree.check()
	if tree.Unsupported = l.judgeVersions(tree); tree.Unsupported.HasErrors() {
		return tree, tree.Unsupported
	}
	return tree, diags
}

// maxCalls is how many calls of modules a tree can have, instances aside. Modules that call the
// next one twice double with each step, which nobody wants to wait for.
const maxCalls = 20_000

// follower follows the calls of a tree.
type follower struct {
	*Loader
	tree *Tree
	seen map[*Directory]bool
	full bool // that there are too many calls was reported

	found map[mistake]bool // in calls of modules that may be called several times
}

// mistake is a mistake in the arguments of a call.
type mistake struct {
	summary, detail string
	at              hcl.Range
}

func (f *follower) constants(node *Node) *constants {
	return &constants{
		node: node, path: f.tree.Root.Dir, loader: f.Loader, variables: map[string]cty.Value{}, locals: map[string]cty.Value{},
	}
}

// follow follows the calls of a module.
func (f *follower) follow(caller *constants) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(caller.node.Calls)) {
		if f.full {
			break
		}
		call := caller.node.Calls[name]
		if call.Source == nil {
			continue // that was reported
		}
		diags = diags.Extend(f.followCall(caller, call))
	}
	return diags
}

func (f *follower) followCall(from *constants, call *Call) hcl.Diagnostics {
	tree, caller := f.tree, from.node
	if len(tree.Nodes) == maxCalls {
		f.full = true
		return hcl.Diagnostics{failure.At(call.SourceRange, "Too many module calls", "The module calls more than %d others, by way of those "+
			"that it calls. Modules that call another one several times multiply: use for_each or count, whose instances do not count.", maxCalls)}
	}
	to, diags := from.address(call)
	if diags.HasErrors() {
		tree.Faulty[caller.Directory] = true
		return f.once(diags)
	}
	node, diag := f.target(caller, call, to)
	if diag != nil {
		tree.Faulty[caller.Directory] = true
		return hcl.Diagnostics{diag}
	}
	path := node.Dir
	if reachedFrom(caller, path) {
		tree.Cycle = true
		return hcl.Diagnostics{failure.At(call.SourceRange, "Recursive module call",
			"Module call %q leads back to a module that it is called from.", call.Name)}
	}
	dir, diags := f.directory(path)
	if dir == nil {
		tree.Missing = append(tree.Missing, node)
		return at(diags, call.SourceRange)
	}
	if diags.HasErrors() {
		tree.Faulty[dir] = true
	}
	if f.seen[dir] {
		diags = nil // reported
	} else {
		f.seen[dir] = true
		diags = append(diags[:len(diags):len(diags)], forbiddenInChild(dir)...)
	}
	node.Directory = dir
	node.Place = placeOf(tree.Root, node)
	tree.Nodes, caller.Children[call.Name] = append(tree.Nodes, node), node
	known := f.constants(node)
	if f.opts.Constants != nil {
		diags = append(diags, f.once(known.ofCall(from))...)
	}
	return append(diags, f.follow(known)...)
}

// once returns the mistakes that were not found in another call of the same module.
func (f *follower) once(diags hcl.Diagnostics) hcl.Diagnostics {
	var found hcl.Diagnostics
	for _, diag := range diags {
		key := mistake{diag.Summary, diag.Detail, *diag.Subject}
		if !f.found[key] {
			f.found[key] = true
			found = append(found, diag)
		}
	}
	return found
}

// at returns diagnostics with another subject. The cached ones belong to all callers.
func at(diags hcl.Diagnostics, subject hcl.Range) hcl.Diagnostics {
	var moved hcl.Diagnostics
	for _, diag := range diags {
		diag := *diag
		diag.Subject = &subject
		moved = append(moved, &diag)
	}
	return moved
}

func reachedFrom(node *Node, path string) bool {
	for ; node != nil; node = node.Parent {
		if node.Dir == path {
			return true
		}
	}
	return false
}

// configuredInRoot reports the provider blocks of the module of a component.
func configuredInRoot(root *Directory) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, provider := range root.Providers {
		diags = diags.Append(failure.At(provider.Range, "Modules used by components cannot configure providers",
			"Remove this block, declare the provider in the stack and pass it in the component's providers argument as %s.", provider.Slot))
	}
	return diags
}

// constantInRoot reports the constant variables of the module of a component, for a binary.
func constantInRoot(root *Directory) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, variable := range root.constantVariables() {
		diags = diags.Append(failure.At(*variable.Const, "Constant variables cannot be used here", "The binary gets the values of variables "+
			"when the component is planned, after the modules are loaded. Use the native engine, or remove the const argument."))
	}
	return diags
}

func forbiddenInRoot(root *Directory) hcl.Diagnostics {
	diags := root.withoutValues() // but its backend is for users that run the module without a stack
	return diags.Extend(root.withoutWorkspace())
}

// ephemeralOutputs are the errors about such outputs of a root module.
func ephemeralOutputs(root *Directory) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(root.Outputs)) {
		if output := root.Outputs[name]; output.Ephemeral {
			diags = diags.Append(failure.At(output.Range, "Ephemeral output not allowed here", "The binary is given the module of a component as "+
				"the root module, whose outputs cannot be ephemeral, as %q is. Use the native engine, or remove the argument ephemeral.", name))
		}
	}
	return diags
}

// deprecatedOutputs are the errors about such outputs of a root module, which no module uses.
func deprecatedOutputs(root *Directory) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(root.Outputs)) {
		if output := root.Outputs[name]; output.Deprecated != nil {
			diags = diags.Append(failure.At(output.DeprecatedRange, "Root module output deprecated", "Only outputs of modules that another "+
				"module calls can be deprecated. Remove the argument deprecated of %q.", name))
		}
	}
	return diags
}

func forbiddenInChild(dir *Directory) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, provider := range dir.Providers {
		if provider.Proxy {
			continue
		}
		diags = diags.Append(failure.At(provider.Range, "Modules used by components cannot configure providers",
			"This module, called by the module of a component, has a provider block, and so is not compatible with stacks. Use a version that "+
				"takes its provider configurations from its caller."))
	}
	diags = diags.Extend(dir.WithoutBackends("cloud")) // of the others, terraform says so itself
	return diags.Extend(dir.withoutWorkspace())
}

// describe sets the facts about the tree as a whole.
func (t *Tree) describe() {
	t.DataProviders = map[engine.ProviderSlot]bool{}
	t.Module = &engine.Module{
		Dir:          t.Root.Dir,
		Variables:    make(map[string]*engine.Variable, len(t.Root.Variables)),
		Outputs:      make(map[string]*engine.Output, len(t.Root.Outputs)),
		Slots:        map[engine.ProviderSlot]*engine.Slot{},
		Requirements: map[stackaddrs.Provider][]string{},
	}
	for name, variable := range t.Root.Variables {
		t.Module.Variables[name] = variable.Variable
	}
	for name, output := range t.Root.Outputs {
		t.Module.Outputs[name] = output.Output
	}
	t.addNode(t.Root)
	for _, node := range t.Nodes {
		t.addNode(node)
	}
	for provider, constraints := range t.Module.Requirements {
		slices.Sort(constraints)
		t.Module.Requirements[provider] = slices.Compact(constraints)
	}
}

// check sets the mistakes that the strict check has found, and which nodes have some.
func (t *Tree) check() {
	for _, dir := range t.Directories() {
		t.strict = append(t.strict, dir.strict...)
		if dir != t.Root.Directory { // in the root, loading has reported them
			t.strict = append(t.strict, dir.WithoutBackends("backend", "state_store")...)
		}
	}
	t.strict = append(t.strict, deprecatedOutputs(t.Root.Directory)...)
	for _, node := range append([]*Node{t.Root}, t.Nodes...) {
		node.Faulty = t.Faulty[node.Directory] || node.strict.HasErrors()
	}
}

func (t *Tree) addNode(node *Node) {
	dir := node.Directory
	for provider, constraints := range dir.Requirements() {
		t.Module.Requirements[provider] = append(t.Module.Requirements[provider], constraints...)
	}
	for _, name := range slices.Sorted(maps.Keys(dir.Required)) {
		requirement := dir.Required[name]
		for _, alias := range requirement.Aliases {
			t.addSlot(node, engine.ProviderSlot{LocalName: name, Alias: alias}, requirement.Range)
		}
		if len(requirement.Aliases) == 0 {
			t.addSlot(node, engine.ProviderSlot{LocalName: name}, requirement.Range)
		}
	}
	for _, block := range dir.Providers { // of a called module: those of the root are errors
		t.addSlot(node, block.Slot, block.Range)
	}
	uses := slices.SortedFunc(maps.Keys(dir.ProviderUses), compareSlots)
	for _, slot := range uses {
		root, ok := t.addSlot(node, slot, dir.ProviderUses[slot])
		if !ok {
			continue
		}
		node.Slots[slot] = root
		if dir.DataProviders[slot] {
			t.DataProviders[root] = true
		}
	}
}

func compareSlots(a, b engine.ProviderSlot) int {
	return cmp.Or(cmp.Compare(a.LocalName, b.LocalName), cmp.Compare(a.Alias, b.Alias))
}

// addSlot records the root's slot that a slot of a module is filled from.
func (t *Tree) addSlot(node *Node, slot engine.ProviderSlot, at hcl.Range) (engine.ProviderSlot, bool) {
	provider, declared := node.Provider(slot.LocalName)
	if provider.IsBuiltin() && !declared {
		return slot, false // a module that only uses the built-in provider takes no configuration of it
	}
	slot, ok := node.rootSlot(slot, provider)
	if !ok {
		return slot, false
	}
	if _, inRoot := t.Root.Required[slot.LocalName]; inRoot {
		provider, declared = t.Root.Provider(slot.LocalName)
	}
	if t.Module.Slots[slot] == nil {
		t.Module.Slots[slot] = &engine.Slot{Provider: provider, Declared: declared, Range: at}
	}
	return slot, true
}

// rootSlot follows a slot up through the calls. An aliased slot that a call doesn't fill leads
// nowhere, as the engine will say; a default one is inherited by the provider's address.
func (n *Node) rootSlot(slot engine.ProviderSlot, provider stackaddrs.Provider) (engine.ProviderSlot, bool) {
	for ; n.Parent != nil; n = n.Parent {
		if passed, ok := n.Call.Providers[slot]; ok {
			slot = passed
			continue
		}
		if slot.Alias != "" {
			return slot, false
		}
		slot.LocalName = n.Parent.localName(provider, slot.LocalName)
	}
	return slot, true
}

// localName returns the name of a provider in the directory. When it has none, that is the
// name in the called module, unless this name is taken.
func (d *Directory) localName(provider stackaddrs.Provider, inChild string) string {
	for _, name := range slices.Sorted(maps.Keys(d.Required)) {
		if d.Required[name].Provider == provider {
			return name
		}
	}
	for {
		if other := d.Required[inChild]; other == nil {
			return inChild
		}
		inChild += "_" + provider.Namespace
	}
}
