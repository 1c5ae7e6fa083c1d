// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package migration takes the objects of the state of an ordinary root module to components of a
// stack.
//
// Two maps say where they go: one of resource instances, which comes first, and one of the module
// calls of the root module, whose objects go together. The configuration must declare each object
// in its new place; its providers are those of the declaration, not those of the state.
//
// Rules:
//
//   - G1. An object stays as it is, but for its address, its provider configuration, and the
//     addresses of objects that it depends on. Of those, only objects of the same component are
//     kept: dependencies of components are in the stack.
//   - G2. A fault concerns one object. The others are taken all the same, and all faults are
//     reported.
//   - G3. The inputs and outputs of components are not known. The next plan computes them.
package migration

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Request names the objects to take and their targets.
type Request struct {
	State  *tfstate.Document
	Config *stackconfig.Config

	// Resources has addresses of resource instances of the state, and for each a component instance,
	// which an address of a resource instance in it may follow.
	Resources map[string]string

	// ModuleCalls has names of module calls of the root module, and for each a component.
	ModuleCalls map[string]string

	// Load reads the module of a component.
	Load func(dir string) (*module.Tree, hcl.Diagnostics)

	// Requires has the requirements of each component.
	Requires map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent

	// HasType reports whether a provider has a resource type. An error is why the provider could not
	// be asked.
	HasType func(stackaddrs.Provider, stackaddrs.Resource) (bool, error)
}

// Result has the migrated objects.
type Result struct {
	Components []*stackstate.Component // sorted by address; their objects are in their modules
}

// Run migrates all objects that it can.
func Run(req Request) (Result, hcl.Diagnostics) {
	m := &migrator{
		Request:    req,
		components: map[stackaddrs.AbsComponentInstance]*component{},
		targets:    map[stackaddrs.ResourceInstance]destination{},
	}
	var diags hcl.Diagnostics
	for _, entry := range req.State.Entries() {
		if diag := m.take(entry); diag != nil {
			diags = diags.Append(diag)
		}
	}
	var result Result
	for _, addr := range slices.SortedFunc(maps.Keys(m.components), stackaddrs.AbsComponentInstance.Compare) {
		made, err := m.finish(m.components[addr])
		if err != nil {
			diags = diags.Append(failure.New("Component not migrated", "%s has a state that cannot be put together: %s.", addr, err))
			continue
		}
		result.Components = append(result.Components, made)
	}
	return result, diags
}

// migrator does the work of [Run].
type migrator struct {
	Request
	components map[stackaddrs.AbsComponentInstance]*component
	targets    map[stackaddrs.ResourceInstance]destination // of the taken objects, by their former addresses
}

// component is a component instance with the objects taken to it.
type component struct {
	addr    stackaddrs.AbsComponentInstance
	module  *engine.Module
	entries []tfstate.Entry
	from    map[stackaddrs.ResourceInstanceObject]stackaddrs.ResourceInstance // by new addresses
}

// take takes one object to its component.
func (m *migrator) take(entry tfstate.Entry) *hcl.Diagnostic {
	to, diag := m.destination(entry.Addr)
	if diag != nil {
		return diag
	}
	block, tree, diag := m.find(entry.Addr, to)
	if diag != nil {
		return diag
	}
	config, diag := m.provider(entry, to, block, tree)
	if diag != nil {
		return diag
	}
	target := m.components[to.component]
	if target == nil {
		target = &component{addr: to.component, module: tree.Module, from: map[stackaddrs.ResourceInstanceObject]stackaddrs.ResourceInstance{}}
		m.components[to.component] = target
	}
	object := stackaddrs.ResourceInstanceObject{Instance: to.resource, Deposed: entry.Deposed}
	if other, ok := target.from[object]; ok {
		return failure.New("Address used twice", "Both %s and %s would be %s in %s. Take one of them elsewhere.",
			other, entry.Addr, object, to.component)
	}
	target.from[object] = entry.Addr
	m.targets[entry.Addr] = to
	target.entries = append(target.entries, entry.WithAddr(to.resource).WithProvider(config))
	return nil
}

// find returns the declaration of an object in its new place.
func (m *migrator) find(from stackaddrs.ResourceInstance, to destination) (*stackconfig.Component, *module.Tree, *hcl.Diagnostic) {
	addr := to.component.Item
	block := m.Config.Root.Components[addr.Component.Name]
	switch {
	case block == nil:
		return nil, nil, failure.New("Component not declared", "%s goes to %s, which the configuration does not have.", from, to.component)
	case block.ForEach == nil && addr.Key != stackaddrs.NoKey:
		return nil, nil, failure.At(block.Range, "Component not declared",
			"%s goes to %s, but %s has no for_each, and so no such instance.", from, to.component, addr.Component)
	case block.ForEach != nil && addr.Key == stackaddrs.NoKey:
		return nil, nil, failure.At(block.Range, "Component not declared",
			"%s goes to %s, but %[2]s has for_each: the instance that is meant has a key.", from, to.component)
	}
	tree, diags := m.Load(block.Source.Dir)
	if tree == nil {
		return nil, nil, failure.At(block.Source.Range, "Unreadable module",
			"%s goes to %s, whose module cannot be read: %s.", from, to.component, diags)
	}
	return block, tree, nil
}

// provider returns the provider configuration that an object has where it goes.
func (m *migrator) provider(
	entry tfstate.Entry, to destination, block *stackconfig.Component, tree *module.Tree,
) (tfstate.ProviderConfig, *hcl.Diagnostic) {
	var none tfstate.ProviderConfig
	declared, ok := tree.Resource(callsTo(to.resource.Module), to.resource.Resource)
	if !ok {
		return none, failure.At(block.Source.Range, "Resource not declared",
			"%s goes to %s, whose module does not declare %s.", entry.Addr, to.component, to.resource)
	}
	if diag := m.checkSlot(entry, to, block, declared); diag != nil {
		return none, diag
	}
	known, err := m.HasType(declared.Provider, to.resource.Resource)
	switch {
	case err != nil:
		return none, failure.At(block.Range, "Provider not usable",
			"%s goes to %s, for which the provider %s is needed: %s.", entry.Addr, to.component, declared.Provider, err)
	case !known:
		return none, failure.At(block.Range, "Unknown resource type",
			"%s goes to %s, but the provider %s has no %s.", entry.Addr, to.component, declared.Provider, describeType(to.resource.Resource))
	}
	return tfstate.ProviderConfig{Provider: providerName(entry, declared.Provider), Alias: declared.Slot.Alias}, nil
}

// checkSlot checks that the component gives the module one provider configuration of the stack for
// a resource.
func (m *migrator) checkSlot(entry tfstate.Entry, to destination, block *stackconfig.Component, declared module.Declared) *hcl.Diagnostic {
	if !declared.HasSlot {
		if declared.Provider.IsBuiltin() {
			return nil
		}
		return failure.At(block.Source.Range, "Provider configuration not passed",
			"%s goes to %s, in whose module no call passes the provider configuration %s to %s.",
			entry.Addr, to.component, declared.Slot, to.resource)
	}
	i := slices.IndexFunc(block.Providers, func(a stackconfig.ProviderAssignment) bool { return a.Slot == declared.Slot })
	if i < 0 {
		if declared.Provider.IsBuiltin() {
			return nil
		}
		return failure.At(block.Range, "Provider configuration missing",
			"%s goes to %s, whose providers argument has no entry for %s.", entry.Addr, to.component, declared.Slot)
	}
	assigned := block.Providers[i]
	var refs []stackaddrs.ProviderConfigRef
	for _, traversal := range assigned.Value.Variables() {
		if ref, ok := providerRef(traversal); ok && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	if len(refs) != 1 {
		return failure.At(assigned.Value.Range(), "Ambiguous provider configuration",
			"%s goes to %s, whose providers argument must name just one provider for %s, and names %d.",
			entry.Addr, to.component, declared.Slot, len(refs))
	}
	if m.Config.Root.Providers[refs[0]] == nil {
		return failure.At(assigned.Value.Range(), "Provider not declared", "%s goes to %s, which uses %s. The stack has no such provider block.",
			entry.Addr, to.component, refs[0])
	}
	return nil
}

// providerRef returns the provider block that a traversal begins with.
func providerRef(traversal hcl.Traversal) (ref stackaddrs.ProviderConfigRef, ok bool) {
	if len(traversal) < 3 || traversal.RootName() != "provider" {
		return ref, false
	}
	localName, isAttr := traversal[1].(hcl.TraverseAttr)
	name, isAlso := traversal[2].(hcl.TraverseAttr)
	return stackaddrs.ProviderConfigRef{LocalName: localName.Name, Name: name.Name}, isAttr && isAlso
}

// providerName is the address of a provider as the state has it: engines have different default
// registries.
func providerName(entry tfstate.Entry, provider stackaddrs.Provider) string {
	if object, err := entry.Object(); err == nil {
		if config, ok := tfstate.ParseProviderConfig(object.Provider); ok && config.IsOf(provider) {
			return config.Provider
		}
	}
	return provider.String()
}

// callsTo returns the names of the calls that lead to a module.
func callsTo(m stackaddrs.ModuleInstance) []string {
	var names []string
	for _, call := range m.Path() {
		names = append(names, call.Name)
	}
	return names
}

func describeType(resource stackaddrs.Resource) string {
	if resource.Mode == stackaddrs.DataResource {
		return fmt.Sprintf("data source %q", resource.Type)
	}
	return fmt.Sprintf("resource type %q", resource.Type)
}

// finish returns the state of a component instance, once all objects were taken.
func (m *migrator) finish(c *component) (*stackstate.Component, error) {
	entries := make([]tfstate.Entry, len(c.entries))
	for i, entry := range c.entries {
		moved, err := m.withDependencies(c, entry)
		if err != nil {
			return nil, err
		}
		entries[i] = moved
	}
	doc, err := tfstate.New(nil, entries)
	if err != nil {
		return nil, err
	}
	addr := stackaddrs.ComponentOf(c.addr)
	return &stackstate.Component{
		Addr:         c.addr,
		Dependencies: m.Requires[addr],
		Dependents:   m.dependents(addr),
		Inputs:       unknown(maps.Keys(c.module.Variables)),
		Outputs:      unknown(maps.Keys(c.module.Outputs)),
		Module:       doc.Bytes(),
	}, nil
}

// withDependencies gives an object the new addresses of those in its component that it depends on
// (rule G1).
func (m *migrator) withDependencies(c *component, entry tfstate.Entry) (tfstate.Entry, error) {
	object, err := entry.Object()
	if err != nil || len(object.Dependencies) == 0 {
		return entry, err
	}
	var kept []string
	for former, to := range m.targets {
		if to.component == c.addr && slices.Contains(object.Dependencies, declarationOf(former)) {
			kept = append(kept, declarationOf(to.resource))
		}
	}
	slices.Sort(kept)
	return entry.WithDependencies(slices.Compact(kept)), nil
}

// declarationOf returns the address of a resource without keys of instances.
func declarationOf(addr stackaddrs.ResourceInstance) string {
	declared := stackaddrs.ResourceInstance{Resource: addr.Resource}
	for _, call := range addr.Module.Path() {
		declared.Module = declared.Module.Child(call.Name, stackaddrs.NoKey)
	}
	return declared.String()
}

// dependents returns the migrated components that require one.
func (m *migrator) dependents(addr stackaddrs.AbsComponent) []stackaddrs.AbsComponent {
	var found []stackaddrs.AbsComponent
	for _, other := range m.components {
		dependent := stackaddrs.ComponentOf(other.addr)
		if slices.Contains(m.Requires[dependent], addr) {
			found = append(found, dependent)
		}
	}
	slices.SortFunc(found, stackaddrs.AbsComponent.Compare)
	return slices.Compact(found)
}

// unknown has unknown values for names (rule G3).
func unknown(names func(func(string) bool)) map[string]cty.Value {
	values := map[string]cty.Value{}
	for name := range names {
		values[name] = cty.DynamicVal
	}
	return values
}
