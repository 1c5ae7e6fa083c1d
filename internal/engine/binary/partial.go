// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/planfile"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/links"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// partial is the plannable and the other parts of a module in which the number of instances of some
// blocks is not known.
type partial struct {
	plan    *planfile.Plan // ended with errors about these blocks, and has everything else
	links   *links.Links
	unknown map[links.Place]bool // the blocks
	imports map[links.Place]bool // those of them of which only the object to import is unknown

	planned map[instanceGroup]bool
	stored  []stackaddrs.ResourceInstance // resources in the state, without keys
	modules []stackaddrs.ModuleInstance   // sorted
}

// instanceGroup is all instances of a resource, or of a called module, in one instance of its
// module.
type instanceGroup struct {
	module stackaddrs.ModuleInstance
	block  string // address in the module
}

func (g instanceGroup) String() string {
	if g.module.IsRoot() {
		return g.block
	}
	return g.module.String() + "." + g.block
}

func groupOf(resource stackaddrs.ResourceInstance) instanceGroup {
	return instanceGroup{resource.Module, resource.Resource.String()}
}

// newPartial reads a plan that ended with these errors. Returns nil if one is about something else
// than blocks of the module.
func newPartial(tree *module.Tree, plan *planfile.Plan, diags hcl.Diagnostics) (*partial, error) {
	p := &partial{
		plan: plan, links: links.New(tree),
		unknown: map[links.Place]bool{}, imports: map[links.Place]bool{}, planned: map[instanceGroup]bool{},
	}
	prior, err := tfstate.Parse(plan.PriorState)
	if err != nil {
		return nil, fmt.Errorf("in a plan: %w", err)
	}
	p.stored = prior.Resources()
	seen := map[stackaddrs.ModuleInstance]bool{}
	for _, change := range visibleChanges(plan.ResourceChanges) {
		group := groupOf(change.Addr)
		p.planned[group] = true
		for module := group.module; !module.IsRoot(); module, _, _ = module.Parent() {
			seen[module] = true
		}
	}
	p.modules = slices.SortedFunc(maps.Keys(seen), stackaddrs.ModuleInstance.Compare)
	for _, diag := range diags {
		if diag.Severity != hcl.DiagError {
			continue
		}
		places := p.candidates(diag.Subject)
		if len(places) == 0 {
			places = p.imported(diag.Subject)
		}
		if len(places) == 0 {
			return nil, nil
		}
		for _, place := range places {
			p.unknown[place] = true
		}
	}
	p.links.Block(slices.Collect(maps.Keys(p.unknown)))
	return p, nil
}

// candidates returns the blocks that an error can be about. If several module calls lead to the
// file with it, those are ruled out where all instances were planned.
func (p *partial) candidates(at *hcl.Range) []links.Place {
	if at == nil {
		return nil
	}
	places := p.links.At(*at)
	missing := slices.DeleteFunc(slices.Clone(places), func(place links.Place) bool {
		if place.Resource == nil || place.Resource.Addr.Mode != stackaddrs.ManagedResource {
			return false
		}
		return !slices.ContainsFunc(p.moduleInstances(place.Node), func(instance stackaddrs.ModuleInstance) bool {
			return !p.planned[instanceGroup{instance, place.Address()}]
		})
	})
	if len(missing) > 0 {
		return missing
	}
	return places
}

// imported returns the resources with an import that an error is about.
func (p *partial) imported(at *hcl.Range) []links.Place {
	if at == nil {
		return nil
	}
	places := p.links.ImportedAt(*at)
	for _, place := range places {
		p.imports[place] = true
	}
	return places
}

// moduleInstances returns the known instances of a called module. One with [*] in it stands
// for those not known.
func (p *partial) moduleInstances(node *module.Node) []stackaddrs.ModuleInstance {
	if node.Parent == nil {
		return []stackaddrs.ModuleInstance{stackaddrs.RootModuleInstance}
	}
	call := links.CallOf(node)
	var instances []stackaddrs.ModuleInstance
	for _, parent := range p.moduleInstances(node.Parent) {
		if call.Repeated() {
			instances = append(instances, p.repeated(call, parent, node.Call.Name)...)
		} else {
			instances = append(instances, parent.Child(node.Call.Name, stackaddrs.NoKey))
		}
	}
	return instances
}

func (p *partial) repeated(at links.Place, parent stackaddrs.ModuleInstance, name string) []stackaddrs.ModuleInstance {
	var known []stackaddrs.ModuleInstance
	for _, instance := range p.modules {
		caller, call, _ := instance.Parent()
		if caller == parent && call.Name == name && call.Key != stackaddrs.NoKey {
			known = append(known, instance)
		}
	}
	if len(known) == 0 || p.links.Blocked(at) {
		return []stackaddrs.ModuleInstance{parent.Child(name, stackaddrs.WildcardKey)}
	}
	return known
}

// deferred returns the changes that could not be planned, sorted by address.
func (p *partial) deferred() []engine.DeferredChange {
	var changes []engine.DeferredChange
	for _, place := range p.links.Places() {
		if !p.links.Blocked(place) || isEphemeral(place) && !p.unknown[place] {
			continue
		}
		if place.Call != nil && (!p.unknown[place] || p.hasResources(place)) {
			continue // its resources are reported
		}
		for _, instance := range p.moduleInstances(place.Node) {
			group := instanceGroup{instance, place.Address()}
			if !p.planned[group] {
				changes = append(changes, engine.DeferredChange{Reason: p.reason(place), Change: p.describe(place, group)})
			}
		}
	}
	engine.SortDeferred(changes)
	return changes
}

func isEphemeral(place links.Place) bool {
	return place.Resource != nil && place.Resource.Addr.Mode == stackaddrs.EphemeralResource
}

// hasResources reports whether there are resources in the called module, or in those that it calls.
func (p *partial) hasResources(call links.Place) bool {
	return slices.ContainsFunc(p.links.Places(), func(place links.Place) bool {
		return place.Resource != nil && !isEphemeral(place) &&
			slices.ContainsFunc(place.Path(), func(node *module.Node) bool { return links.CallOf(node) == call })
	})
}

func (p *partial) reason(place links.Place) string {
	if p.imports[place] {
		return reasonConfig
	}
	if p.unknown[place] || slices.ContainsFunc(place.Path(), func(node *module.Node) bool { return p.unknown[links.CallOf(node)] }) {
		return reasonInstanceCount
	}
	return reasonPrerequisite
}

// describe returns the known part of a change that could not be planned.
func (p *partial) describe(place links.Place, group instanceGroup) *engine.Change {
	key := stackaddrs.NoKey
	if place.Repeated() {
		key = stackaddrs.WildcardKey
	}
	if place.Call != nil {
		return &engine.Change{Addr: stackaddrs.ResourceInstance{Module: group.module.Child(place.Call.Name, key)}}
	}
	resource, action := place.Resource.Addr, engine.ActionCreate
	switch {
	case resource.Mode != stackaddrs.ManagedResource:
		action = engine.ActionRead
	case !place.Repeated() && slices.ContainsFunc(p.stored, func(r stackaddrs.ResourceInstance) bool { return groupOf(r) == group }):
		action = engine.ActionUpdate
	}
	change := &engine.Change{
		Addr:     stackaddrs.ResourceInstance{Module: group.module, Resource: resource, Key: key},
		Provider: place.Resource.ProviderAddr, Action: action, Before: cty.NullVal(cty.DynamicPseudoType),
	}
	if p.imports[place] { // other changes are unknown until the object is known
		change.Importing = &engine.Importing{Unknown: true}
	}
	return change
}

// isStored reports whether there is something of a managed resource in the state.
func (p *partial) isStored(change *engine.Change) bool {
	resource := change.Addr.Resource
	return resource.Mode == stackaddrs.ManagedResource &&
		slices.ContainsFunc(p.stored, func(r stackaddrs.ResourceInstance) bool { return r.Resource == resource })
}

// hasChanges reports whether applying the planned part would do anything.
func (p *partial) hasChanges() bool {
	return slices.ContainsFunc(visibleChanges(p.plan.ResourceChanges), func(change *engine.Change) bool {
		return change.Action != engine.ActionNoOp
	})
}

// targets returns the addresses of all that could be planned, sorted: a second plan with these
// targets has the same changes.
func (p *partial) targets() []string {
	targets := map[string]bool{}
	for _, change := range p.plan.ResourceChanges {
		targets[groupOf(change.Addr).String()] = true
	}
	// Targets bring along their dependencies, but not outputs that depend only on blocks without
	// changes: data sources that were read, and resources without instances.
	read := map[instanceGroup]bool{}
	for _, resource := range p.stored {
		if resource.Resource.Mode == stackaddrs.DataResource {
			read[groupOf(resource)] = true
		}
	}
	for _, place := range p.links.Places() {
		if p.links.Blocked(place) || place.Call != nil || isEphemeral(place) {
			continue
		}
		for _, instance := range p.moduleInstances(place.Node) {
			group := instanceGroup{instance, place.Address()}
			if !instance.HasWildcard() && (read[group] || place.Repeated()) {
				targets[group.String()] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(targets))
}
