// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfengine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/cairnstacks/cairn/internal/tfengine/module"
	"github.com/cairnstacks/cairn/internal/tfengine/planfile"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// partial is what could be planned of a module in which the number of instances of some blocks is not
// known, and what could not.
type partial struct {
	plan    *planfile.Plan // ended with errors about these blocks, and has everything else
	links   *module.Links
	tree    *module.Tree
	unknown map[module.Place]bool // the blocks
	imports map[module.Place]bool // those of them of which only is unknown what to import

	planned map[instanceGroup]bool
	stored  []stateResource
	modules []string // module instances, sorted
}

// instanceGroup is all instances of a resource in one instance of its module.
type instanceGroup struct{ module, resource string }

func (g instanceGroup) String() string { return joinAddress(g.module, g.resource) }

// stateResource is a resource in a state.
type stateResource struct {
	Module string `json:"module"`
	Mode   string `json:"mode"`
	Type   string `json:"type"`
	Name   string `json:"name"`
}

func (r stateResource) group() instanceGroup {
	return instanceGroup{r.Module, resourceAddress(tfjson.ResourceMode(r.Mode), r.Type, r.Name)}
}

// readStateResources returns the resources in a state document, which may be empty.
func readStateResources(doc []byte) ([]stateResource, error) {
	if len(doc) == 0 {
		return nil, nil
	}
	var state struct {
		Resources []stateResource `json:"resources"`
	}
	if err := json.Unmarshal(doc, &state); err != nil {
		return nil, fmt.Errorf("reading the state: %w", err)
	}
	return state.Resources, nil
}

func resourceAddress(mode tfjson.ResourceMode, typeName, name string) string {
	if mode == tfjson.ManagedResourceMode {
		return typeName + "." + name
	}
	return string(mode) + "." + typeName + "." + name
}

func joinAddress(module, rest string) string {
	if module == "" {
		return rest
	}
	return module + "." + rest
}

// newPartial reads a plan that ended with these errors. Returns nil if one is about something else than blocks of the module.
func newPartial(tree *module.Tree, plan *planfile.Plan, diags hcl.Diagnostics) (*partial, error) {
	p := &partial{
		plan: plan, tree: tree, links: module.NewLinks(tree),
		unknown: map[module.Place]bool{}, imports: map[module.Place]bool{}, planned: map[instanceGroup]bool{},
	}
	var err error
	if p.stored, err = readStateResources(plan.PriorState); err != nil {
		return nil, fmt.Errorf("in a plan: %w", err)
	}
	seen := map[string]bool{}
	for _, change := range visibleChanges(plan.ResourceChanges) {
		p.planned[groupOf(change)] = true
		for _, instance := range enclosing(change.ModuleAddress) {
			seen[instance] = true
		}
	}
	p.modules = slices.Sorted(maps.Keys(seen))
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

func groupOf(change *tfjson.ResourceChange) instanceGroup {
	return instanceGroup{change.ModuleAddress, resourceAddress(change.Mode, change.Type, change.Name)}
}

// candidates returns the blocks that an error can be about. If several module calls lead to the file with
// it, those are ruled out where all instances were planned.
func (p *partial) candidates(at *hcl.Range) []module.Place {
	if at == nil {
		return nil
	}
	places := p.links.At(*at)
	missing := slices.DeleteFunc(slices.Clone(places), func(place module.Place) bool {
		if place.Block.Kind != "resource" {
			return false
		}
		return !slices.ContainsFunc(p.moduleInstances(place.Node), func(instance string) bool {
			return !p.planned[instanceGroup{instance, place.Block.Address()}]
		})
	})
	if len(missing) > 0 {
		return missing
	}
	return places
}

// imported returns the resources with an import that an error is about.
func (p *partial) imported(at *hcl.Range) []module.Place {
	if at == nil {
		return nil
	}
	places := p.links.ImportedAt(*at)
	for _, place := range places {
		p.imports[place] = true
	}
	return places
}

// moduleInstances returns the addresses of the known instances of a called module. One with [*] in it stands
// for those not known.
func (p *partial) moduleInstances(node *module.Node) []string {
	if node == nil {
		return []string{""}
	}
	call := p.links.Call(node)
	var instances []string
	for _, parent := range p.moduleInstances(node.Parent()) {
		address := joinAddress(parent, "module."+node.Name())
		if call.Block != nil && call.Block.Repeated() {
			instances = append(instances, p.repeated(call, address)...)
		} else {
			instances = append(instances, address)
		}
	}
	return instances
}

func (p *partial) repeated(call module.Place, address string) []string {
	known := slices.DeleteFunc(slices.Clone(p.modules), func(instance string) bool {
		key, ok := strings.CutPrefix(instance, address)
		return !ok || !strings.HasPrefix(key, "[") || len(enclosing(instance)) != len(enclosing(address))
	})
	if len(known) == 0 || p.links.Blocked(call) {
		return []string{address + "[*]"}
	}
	return known
}

// enclosing returns the address of a module instance and those of the ones that it is in, outermost first.
func enclosing(address string) []string {
	traversal, diags := hclsyntax.ParseTraversalAbs([]byte(address), "", hcl.InitialPos)
	if diags.HasErrors() {
		return nil
	}
	var instances []string
	names := 0
	for _, step := range traversal {
		upTo := address[:step.SourceRange().End.Byte]
		if _, indexed := step.(hcl.TraverseIndex); indexed {
			instances[len(instances)-1] = upTo
			continue
		}
		names++ // the word "module" and the name of a call take turns
		if names%2 == 0 {
			instances = append(instances, upTo)
		}
	}
	return instances
}

// deferred returns what could not be planned, sorted by address.
func (p *partial) deferred() []engine.DeferredChange {
	var changes []engine.DeferredChange
	for _, place := range p.links.Places() {
		if !p.links.Blocked(place) || place.Block.Kind == "ephemeral" && !p.unknown[place] {
			continue
		}
		if place.Block.Kind == "module" && (!p.unknown[place] || p.hasResources(place)) {
			continue // its resources tell
		}
		for _, instance := range p.moduleInstances(place.Node) {
			group := instanceGroup{instance, place.Block.Address()}
			if !p.planned[group] {
				changes = append(changes, engine.DeferredChange{Reason: p.reason(place), Change: p.describe(place, group)})
			}
		}
	}
	slices.SortFunc(changes, func(a, b engine.DeferredChange) int { return cmp.Compare(a.Change.Address, b.Change.Address) })
	return changes
}

// hasResources tells whether there are resources in the called module, or in those that it calls.
func (p *partial) hasResources(call module.Place) bool {
	return slices.ContainsFunc(p.links.Places(), func(place module.Place) bool {
		return place.Block.Kind != "module" && place.Block.Kind != "ephemeral" &&
			slices.ContainsFunc(place.Path(), func(node *module.Node) bool { return p.links.Call(node) == call })
	})
}

func (p *partial) reason(place module.Place) string {
	if p.imports[place] {
		return reasonConfig
	}
	if p.unknown[place] || slices.ContainsFunc(place.Path(), func(node *module.Node) bool { return p.unknown[p.links.Call(node)] }) {
		return reasonInstanceCount
	}
	return reasonPrerequisite
}

// describe says what little is known of a change that could not be planned.
func (p *partial) describe(place module.Place, group instanceGroup) *tfjson.ResourceChange {
	block := place.Block
	change := &tfjson.ResourceChange{Address: group.String(), ModuleAddress: group.module}
	if block.Repeated() {
		change.Address += "[*]"
	}
	if block.Kind == "module" {
		change.ModuleAddress = change.Address
		return change
	}
	dir := p.tree.Root
	if place.Node != nil {
		dir = place.Node.Directory
	}
	provider, _ := dir.Provider(block.ProviderName)
	change.Type, change.Name, change.ProviderName = block.Type, block.Name, provider.String()
	change.Mode = tfjson.ManagedResourceMode
	action := tfjson.ActionCreate
	switch {
	case block.Kind == "data":
		change.Mode, action = tfjson.DataResourceMode, tfjson.ActionRead
	case block.Kind == "ephemeral":
		change.Mode, action = tfjson.ResourceMode("ephemeral"), tfjson.ActionRead
	case !block.Repeated() && slices.ContainsFunc(p.stored, func(r stateResource) bool { return r.group() == group }):
		action = tfjson.ActionUpdate
	}
	change.Change = &tfjson.Change{
		Actions: tfjson.Actions{action}, AfterUnknown: map[string]any{}, BeforeSensitive: false, AfterSensitive: map[string]any{},
	}
	if p.imports[place] { // what else changes cannot be told before the object is known
		change.Change.Importing = &tfjson.Importing{Unknown: true}
	}
	return change
}

// isStored tells whether there is something of a managed resource in the state.
func (p *partial) isStored(change *tfjson.ResourceChange) bool {
	return change.Mode == tfjson.ManagedResourceMode && slices.ContainsFunc(p.stored, func(r stateResource) bool {
		return r.Mode == "managed" && r.Type == change.Type && r.Name == change.Name
	})
}

// hasChanges tells whether applying what could be planned would do anything.
func (p *partial) hasChanges() bool {
	return slices.ContainsFunc(visibleChanges(p.plan.ResourceChanges), func(change *tfjson.ResourceChange) bool {
		return !change.Change.Actions.NoOp()
	})
}

// targets returns the addresses of all that could be planned, sorted: a second plan with these targets
// has the same changes.
func (p *partial) targets() []string {
	targets := map[string]bool{}
	for _, change := range p.plan.ResourceChanges {
		targets[groupOf(change).String()] = true
	}
	// Targets bring along what they depend on, but not outputs that depend on nothing else than what
	// has no changes: data sources that were read, and resources without instances.
	read := map[instanceGroup]bool{}
	for _, resource := range p.stored {
		if resource.Mode == string(tfjson.DataResourceMode) {
			read[resource.group()] = true
		}
	}
	for _, place := range p.links.Places() {
		if p.links.Blocked(place) || place.Block.Kind == "module" || place.Block.Kind == "ephemeral" {
			continue
		}
		for _, instance := range p.moduleInstances(place.Node) {
			group := instanceGroup{instance, place.Block.Address()}
			if !strings.Contains(instance, "[*]") && (read[group] || place.Block.Repeated()) {
				targets[group.String()] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(targets))
}
