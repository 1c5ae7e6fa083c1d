// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"fmt"
	"iter"
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// references checks references, and reports whether all their subjects are there (rule V1).
func (m *moduleChecker) references(found []refs.Reference, at place) bool {
	ok := true
	for i := range found {
		ok = m.reference(&found[i], at) && ok
	}
	return ok
}

func (m *moduleChecker) reference(ref *refs.Reference, at place) bool {
	before := len(m.diags)
	if at.only != nil && !at.only(ref.Subject.Kind) {
		m.problem(ref.Range, "Reference not allowed here", at.why)
		return false
	}
	switch ref.Subject.Kind {
	case refs.Variable:
		m.declared(ref, "variable", ref.Subject.Name, m.tree.Variables[ref.Subject.Name] != nil, maps.Keys(m.tree.Variables))
	case refs.Local:
		m.declared(ref, "local value", ref.Subject.Name, m.tree.Locals[ref.Subject.Name] != nil, maps.Keys(m.tree.Locals))
	case refs.Call, refs.CallOutput:
		m.declared(ref, "module call", ref.Subject.Name, m.tree.Calls[ref.Subject.Name] != nil, maps.Keys(m.tree.Calls))
	case refs.Resource:
		m.resourceReference(ref, at)
	case refs.EachKey, refs.EachValue:
		if at.repeat.ForEach == nil {
			m.misplaced(ref, "a block with a for_each argument")
		}
	case refs.CountIndex:
		if at.repeat.Count == nil {
			m.misplaced(ref, "a block with a count argument")
		}
	case refs.Self:
		if at.self == cty.NilVal {
			m.misplaced(ref, "a postcondition, a provisioner or a connection")
		}
	case refs.Action:
		m.problem(ref.Range, "Reference not allowed here", "Actions have no value. Only the triggers of resources can refer to them.")
	case refs.PathAttr, refs.TerraformOf:
	}
	return len(m.diags) == before
}

func (m *moduleChecker) misplaced(ref *refs.Reference, where string) {
	m.problem(ref.Range, "Reference not allowed here", fmt.Sprintf("The symbol %s can only be used in %s.", ref.Subject, where))
}

// declared reports an object that is not there.
func (m *moduleChecker) declared(ref *refs.Reference, kind, name string, found bool, others iter.Seq[string]) {
	if !found {
		m.problem(ref.Range, "Reference to undeclared object", fmt.Sprintf("The module has no %s %q.%s", kind, name, m.hints.DidYouMean(name, others)))
	}
}

func (m *moduleChecker) resourceReference(ref *refs.Reference, at place) {
	addr := ref.Subject.Resource()
	r := m.tree.Resources[addr]
	switch {
	case r == nil:
		m.problem(ref.Range, "Reference to undeclared object", fmt.Sprintf("The module has no resource %s.%s", addr, m.similar(addr)))
	case r.Check != nil && r.Check != at.check:
		m.problem(ref.Range, "Reference to undeclared object", fmt.Sprintf("%s is declared in the check %q, and is only to be used there.", addr, r.Check.Name))
	case r == at.own:
		m.problem(ref.Range, "Self-referential block", fmt.Sprintf("%s refers to itself, and so can never be known. Conditions after the fact, provisioners and connections use the symbol self.", addr))
	default:
		m.instanceReference(ref, r)
	}
}

// similar returns a hint at a resource that may be meant.
func (m *moduleChecker) similar(addr stackaddrs.Resource) string {
	for _, mode := range []stackaddrs.ResourceMode{stackaddrs.ManagedResource, stackaddrs.DataResource, stackaddrs.EphemeralResource} {
		other := stackaddrs.Resource{Mode: mode, Type: addr.Type, Name: addr.Name}
		if m.tree.Resources[other] != nil {
			return fmt.Sprintf(" There is %s.", other)
		}
	}
	return m.hints.DidYouMean(addr.String(), func(yield func(string) bool) {
		for other := range m.tree.Resources {
			if !yield(other.String()) {
				return
			}
		}
	})
}

// instanceReference checks the key and the attributes in a reference to a resource.
func (m *moduleChecker) instanceReference(ref *refs.Reference, r *module.Resource) {
	repeated, keyed := r.Repeat != (module.Repeat{}), ref.Key != stackaddrs.NoKey
	_, attribute := first(ref.Rest).(hcl.TraverseAttr)
	switch {
	case repeated && !keyed && attribute:
		m.problem(ref.Range, "Resource instance key missing", fmt.Sprintf("%s has several instances, or none: it has a %s argument. Write the key of the instance that is meant in brackets after the name.", r.Addr, argumentOf(r.Repeat)))
		return
	case !repeated && keyed:
		m.problem(ref.Range, "Key without several instances", fmt.Sprintf("%s has one instance, without a key: there is no count or for_each argument. Leave out the brackets.", r.Addr))
		return
	}
	if repeated && !keyed || len(ref.Rest) == 0 {
		return
	}
	if schema, _ := m.schemaOf(r.ProviderAddr, r.Addr); schema != nil {
		_, diags := ref.Rest.TraverseRel(cty.UnknownVal(schema.Block.Type()))
		m.add(diags)
	}
}

func first(traversal hcl.Traversal) hcl.Traverser {
	if len(traversal) == 0 {
		return nil
	}
	return traversal[0]
}

func argumentOf(repeat module.Repeat) string {
	if repeat.Count != nil {
		return "count"
	}
	return "for_each"
}
