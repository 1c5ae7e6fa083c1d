// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// triggered reports whether something has changed that the argument replace_triggered_by names.
func (p *planner) triggered(ctx context.Context, t *resource.Target) (triggered, ok bool) {
	for _, expr := range t.Config().ReplaceTriggeredBy {
		triggered, ok := p.triggers(ctx, t, expr)
		if triggered || !ok {
			return triggered, ok
		}
	}
	return false, true
}

// trigger is the target of an expression of replace_triggered_by.
type trigger struct {
	resource *eval.Resource
	key      stackaddrs.InstanceKey
	all      bool          // instances
	part     hcl.Traversal // of the object
}

func (p *planner) triggers(ctx context.Context, t *resource.Target, expr *module.Expr) (triggered, ok bool) {
	named, ok := p.trigger(ctx, t, expr)
	if !ok {
		return false, false
	}
	if _, ok := named.resource.Value(ctx); !ok {
		return false, false
	}
	x, ok := named.resource.Expand(ctx)
	if !ok || x.Unknown {
		return false, ok
	}
	if !named.all && !x.Has(named.key) {
		return false, p.badTrigger(t, expr, "There is no instance "+named.resource.Addr(named.key).String()+".")
	}
	for _, key := range x.Keys {
		if !named.all && key != named.key {
			continue
		}
		changes, diags := named.changes(p.instance(named.resource, key).change)
		if !p.eval.Diagnostics.AddTo(t.Address, diags...) || changes {
			return changes, !diags.HasErrors()
		}
	}
	return false, true
}

func (p *planner) badTrigger(t *resource.Target, expr *module.Expr, detail string) bool {
	return p.eval.Diagnostics.AddTo(t.Address, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Invalid replacement trigger", Detail: detail, Subject: expr.Range().Ptr(),
	})
}

// changes reports whether the object, or the part of it that is named, will be another one. Objects
// that are created do not count.
func (n *trigger) changes(c *planned.Change) (bool, hcl.Diagnostics) {
	if c == nil || c.Deferred != "" || c.Action != engine.ActionUpdate && !c.Action.Replaces() {
		return false, nil
	}
	if len(n.part) == 0 {
		return true, nil
	}
	before, _ := c.Before.UnmarkDeep()
	after, _ := c.After.UnmarkDeep()
	was, diags := n.part.TraverseRel(before)
	is, moreDiags := n.part.TraverseRel(after)
	if diags = diags.Extend(moreDiags); diags.HasErrors() {
		return false, diags
	}
	return !was.RawEquals(is) || !is.IsWhollyKnown(), nil
}

// trigger decodes an expression: a reference to a resource, perhaps with a key that can depend on
// the instance, and perhaps to a part of its object.
func (p *planner) trigger(ctx context.Context, t *resource.Target, expr *module.Expr) (*trigger, bool) {
	traversal, key, part := referenceParts(expr.Expression)
	if traversal == nil {
		return nil, p.badTrigger(t, expr, "A reference to a managed resource is required, to an instance of one, or to a part of that.")
	}
	ref, diags := refs.Parse(traversal)
	if !p.eval.Diagnostics.AddTo(t.Address, diags...) {
		return nil, false
	}
	named := &trigger{key: ref.Key, all: ref.Key == stackaddrs.NoKey, part: ref.Rest}
	if ref.Subject.Kind == refs.Resource && ref.Subject.Mode == stackaddrs.ManagedResource {
		named.resource = t.Resource.Module.Resource(ref.Subject.Resource())
	}
	if named.resource == nil {
		return nil, p.badTrigger(t, expr, "The module does not declare a managed resource "+ref.Subject.String()+".")
	}
	if key == nil {
		return named, true
	}
	named.part, named.all = part, false
	var ok bool
	named.key, ok = p.evalKey(ctx, t.Resource.Module, key, t.At)
	return named, ok
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
