// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Named is the instances of a block that an argument of a lifecycle block names.
type Named struct {
	Key  stackaddrs.InstanceKey // the wildcard if it is unknown
	All  bool                   // instances: there is no key
	Part hcl.Traversal          // of the object
}

// Trigger returns the resource that an element of replace_triggered_by names, with the instance and
// the part of its object.
func (r *Resource) Trigger(ctx context.Context, expr *module.Expr, at Place) (*Resource, Named, bool) {
	m := r.Module
	ref, named, ok := m.named(ctx, expr, at, func(ref *refs.Reference) bool {
		return ref.Subject.Kind == refs.Resource && ref.Subject.Mode == stackaddrs.ManagedResource
	}, "Invalid replacement trigger", "A trigger is a managed resource of the module, an instance of it, or an attribute of one. A key can "+
		"be count.index or each.key.")
	block := m.resources[ref.Subject.Resource()]
	switch {
	case ok && block == nil:
		s := scope{module: m, at: at}
		ok = s.undeclaredResource(&ref, ref.Subject.Resource())
	case ok && m.eval.opts.Phase == Validate:
		_, ok = m.Scope(ctx, []refs.Reference{ref}, at)
	}
	return block, named, ok
}

// TriggeredAction returns the action that an element of the argument actions names, with the
// instance.
func (r *Resource) TriggeredAction(ctx context.Context, expr *module.Expr, at Place) (*Action, Named, bool) {
	m := r.Module
	ref, named, ok := m.named(ctx, expr, at, func(ref *refs.Reference) bool { return ref.Subject.Kind == refs.Action },
		"Invalid action reference", "A trigger leads to an action of the module, or to an instance of one. A key can be count.index or each.key.")
	if !ok {
		return nil, named, false
	}
	id := ref.Subject.Type + "." + ref.Subject.Name
	a := m.actions[id]
	if a == nil {
		s := scope{module: m, at: at}
		s.undeclared(&ref, "action.", id, maps.Keys(m.actions))
	}
	return a, named, a != nil
}

// named takes the reference apart that an expression is. Other expressions, and references that are
// not allowed, are errors.
func (m *Module) named(
	ctx context.Context, expr *module.Expr, at Place, allowed func(*refs.Reference) bool, summary, detail string,
) (ref refs.Reference, named Named, ok bool) {
	traversal, key, part := referenceParts(expr.Expression)
	if traversal != nil {
		var diags hcl.Diagnostics
		if ref, diags = refs.Parse(traversal); !m.eval.Diagnostics.AddTo(at.Resource, diags...) {
			return ref, named, false
		}
	}
	if traversal == nil || !allowed(&ref) || ref.Subject.Kind == refs.Action && len(ref.Rest)+len(part) > 0 ||
		!onlyKeys(expr.Refs, ref.Subject) {
		return ref, named, m.eval.Diagnostics.AddTo(at.Resource, failure.At(expr.Range(), summary, "%s", detail))
	}
	if key == nil {
		return ref, Named{Key: ref.Key, All: ref.Key == stackaddrs.NoKey, Part: ref.Rest}, true
	}
	named.Part = part
	named.Key, ok = m.InstanceKey(ctx, key, at)
	return ref, named, ok
}

// onlyKeys reports whether all references but the one to a subject are keys of the own instance.
func onlyKeys(references []refs.Reference, subject refs.Subject) bool {
	for _, ref := range references {
		if ref.Subject != subject && ref.Subject.Kind != refs.CountIndex && ref.Subject.Kind != refs.EachKey {
			return false
		}
	}
	return true
}

// referenceParts takes a reference apart whose key may be any expression: without such a key, all
// of it is the traversal.
func referenceParts(expr hcl.Expression) (traversal hcl.Traversal, key hcl.Expression, part hcl.Traversal) {
	if traversal, diags := hcl.AbsTraversalForExpr(expr); !diags.HasErrors() {
		return traversal, nil, nil
	}
	if relative, ok := expr.(*hclsyntax.RelativeTraversalExpr); ok {
		expr, part = relative.Source, relative.Traversal
	}
	index, ok := expr.(*hclsyntax.IndexExpr)
	if !ok {
		return nil, nil, nil
	}
	traversal, diags := hcl.AbsTraversalForExpr(index.Collection)
	if diags.HasErrors() {
		return nil, nil, nil
	}
	return traversal, index.Key, part
}
