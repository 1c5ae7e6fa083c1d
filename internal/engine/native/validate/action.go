// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"context"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Action implements [eval.Checker].
func (c *checker) Action(ctx context.Context, a *eval.Action) {
	at, _ := a.Place(ctx, stackaddrs.NoKey)
	a.Slot(at)
	triggeredBy := a.TriggeredBy()
	if len(triggeredBy) > 0 {
		at.Caller, at.Self = &eval.Caller{}, cty.DynamicVal
	}
	if len(triggeredBy) == 1 {
		at.Self, _ = c.Object(ctx, triggeredBy[0], stackaddrs.NoKey)
	}
	for _, ref := range a.Config.Refs {
		if slices.ContainsFunc(triggeredBy, func(r *eval.Resource) bool { return ref.Subject == refs.OfResource(r.Config.Addr) }) {
			c.warn(ref.Range, "Reference to triggering resource", fmt.Sprintf("Changes of %s trigger the action, where the symbol caller is "+
				"the object that changes.", ref.Subject))
		}
	}
	t := &resource.Target{Action: a, At: at}
	if p := c.Schemas.Schema(a.Config.ProviderAddr); p != nil && c.Describe(t, a.Config.ProviderAddr, p) {
		c.configured(ctx, t, func(config cty.Value) provider.Diagnostics {
			return c.Validator.ValidateAction(ctx, t.Of, t.Name, config)
		})
	}
}

// actionTrigger checks a trigger of a resource. Its condition can refer to the object of the
// change, as planned or as it was, if not before that is created.
func (c *checker) actionTrigger(ctx context.Context, t *resource.Target, trigger *module.ActionTrigger, after eval.Place) {
	if !slices.Contains(trigger.Events, engine.BeforeCreate) {
		t.Resource.Triggers(ctx, trigger, after)
	} else {
		t.Resource.Triggers(ctx, trigger, t.At)
	}
	for _, expr := range trigger.Actions {
		c.triggered(ctx, t, expr)
	}
}

// triggered checks an element of the argument actions.
func (c *checker) triggered(ctx context.Context, t *resource.Target, expr *module.Expr) {
	a, named, ok := t.Resource.TriggeredAction(ctx, expr, t.At)
	if !ok {
		return
	}
	name := "action." + a.Config.Type + "." + a.Config.Name
	switch mistake := eval.KeyMistake(name, a.Config.Repeat, !named.All); {
	case mistake != "" && named.All:
		c.problem(expr.Range(), "Action instance key missing", mistake)
	case mistake != "":
		c.problem(expr.Range(), "Key without several instances", mistake)
	case refersTo(a.Config.Repeat, t.Config()):
		c.problem(a.Config.Range, "Circular dependency", fmt.Sprintf("The instances of %s depend on %s, whose changes trigger it.", name,
			t.Config().Addr))
	}
}

// refersTo reports whether the count or for_each of a block refers to a resource.
func refersTo(repeat module.Repeat, r *module.Resource) bool {
	for _, expr := range []*module.Expr{repeat.Count, repeat.ForEach} {
		if expr != nil && slices.ContainsFunc(expr.Refs, func(ref refs.Reference) bool { return ref.Subject == refs.OfResource(r.Addr) }) {
			return true
		}
	}
	return false
}
