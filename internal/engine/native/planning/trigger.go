// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
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

func (p *planner) triggers(ctx context.Context, t *resource.Target, expr *module.Expr) (triggered, ok bool) {
	block, named, ok := t.Resource.Trigger(ctx, expr, t.At)
	if !ok {
		return false, false
	}
	if _, ok := block.Value(ctx); !ok {
		return false, false
	}
	x, ok := block.Expand(ctx)
	if !ok || x.Unknown {
		return false, ok
	}
	if !named.All && !x.Has(named.Key) {
		return false, p.eval.Diagnostics.AddTo(t.Address, failure.At(expr.Range(), "Invalid replacement trigger",
			"There is no instance %s.", block.Addr(named.Key)))
	}
	for _, key := range x.Keys {
		if !named.All && key != named.Key {
			continue
		}
		changed, diags := changes(p.instance(block, key).change, named.Part)
		if !p.eval.Diagnostics.AddTo(t.Address, diags...) || changed {
			return changed, !diags.HasErrors()
		}
	}
	return false, true
}

// changes reports whether the object, or the part of it that is named, will be another one. Objects
// that are created do not count.
func changes(c *planned.Change, part hcl.Traversal) (bool, hcl.Diagnostics) {
	if c == nil || c.Deferred != "" || c.Action != engine.ActionUpdate && !c.Action.Succeeds() {
		return false, nil
	}
	if len(part) == 0 {
		return true, nil
	}
	before, _ := c.Before.UnmarkDeep()
	after, _ := c.After.UnmarkDeep()
	was, diags := part.TraverseRel(before)
	is, moreDiags := part.TraverseRel(after)
	if diags = diags.Extend(moreDiags); diags.HasErrors() {
		return false, diags
	}
	return !was.RawEquals(is) || !is.IsWhollyKnown(), nil
}
