// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
)

func (m *moduleChecker) conditions(r *module.Resource, at place) {
	for _, rule := range r.Preconditions {
		m.condition(rule, at)
	}
	at.self = m.self(r)
	for _, rule := range r.Postconditions {
		m.condition(rule, at)
	}
}

// self returns one instance of a resource.
func (m *moduleChecker) self(r *module.Resource) cty.Value {
	schema, _ := m.schemaOf(r.ProviderAddr, r.Addr)
	if schema == nil {
		return cty.DynamicVal
	}
	return cty.UnknownVal(schema.Block.Type())
}

// ignored checks the paths in ignore_changes.
func (m *moduleChecker) ignored(r *module.Resource, block *schema.Block) {
	for _, path := range r.IgnoreChanges {
		if _, diags := path.TraverseRel(cty.UnknownVal(block.Type())); diags.HasErrors() {
			m.add(diags)
			continue
		}
		attr, ok := path[0].(hcl.TraverseAttr)
		if !ok || len(path) > 1 {
			continue
		}
		for _, known := range block.Attributes {
			if known.Name == attr.Name && known.Computed && !known.Optional {
				m.warn(r.Range, "Redundant ignore_changes element", fmt.Sprintf("Only the provider decides on %q, so that the configuration has no changes of it to be ignored.", attr.Name))
			}
		}
	}
}

// triggers checks replace_triggered_by: each element leads to one managed resource, perhaps with
// the key of the own instance.
func (m *moduleChecker) triggers(r *module.Resource, at place) {
	for _, trigger := range r.ReplaceTriggeredBy {
		resources := 0
		for i := range trigger.Refs {
			ref := &trigger.Refs[i]
			switch {
			case ref.Subject.Kind == refs.Resource && ref.Subject.Mode == stackaddrs.ManagedResource:
				resources++
			case ref.Subject.Kind == refs.CountIndex || ref.Subject.Kind == refs.EachKey:
			default:
				resources = 2
			}
		}
		if resources != 1 {
			m.problem(trigger.Range(), "Invalid replacement trigger", "A trigger is a managed resource of the module, an instance of it, or an attribute of one. A key can be count.index or each.key.")
			continue
		}
		m.references(trigger.Refs, at)
	}
}
