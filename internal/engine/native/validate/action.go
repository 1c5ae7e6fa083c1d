// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// action checks a block of an action.
func (m *moduleChecker) action(a *module.Action) {
	m.filled("action."+a.Type+"."+a.Name, a.Provider, a.ProviderRange)
	m.repeat(a.Repeat, place{})
	p := m.opts.Schemas.Schema(a.ProviderAddr)
	if p == nil {
		return
	}
	found := p.Actions[a.Type]
	if found == nil {
		m.problem(a.Range, "Unknown action type", fmt.Sprintf("The provider %s has no action %q.%s", a.ProviderAddr, a.Type, m.hints.DidYouMean(a.Type, maps.Keys(p.Actions))))
		return
	}
	w := &written{body: a.Config, refs: a.Refs, at: a.Range, block: found.Block, decoder: m.decoder(found.Block)}
	config, ok := m.decode(w, place{repeat: a.Repeat})
	if !ok || !m.persistent(w, config) || m.opts.Validator == nil {
		return
	}
	bare, _ := config.UnmarkDeep()
	m.said(w, config, m.opts.Validator.ValidateAction(m.ctx, a.ProviderAddr, a.Type, bare))
}

// actionTrigger checks a trigger of a resource. Its condition can refer to the object of the change
// if it is evaluated after that only.
func (m *moduleChecker) actionTrigger(r *module.Resource, trigger *module.ActionTrigger, at place) {
	if trigger.Condition != nil {
		if !slices.ContainsFunc(trigger.Events, engine.TriggerEvent.Before) {
			at.self = m.self(r)
		}
		m.eval(trigger.Condition, at)
	}
	at.self = cty.NilVal
	for _, expr := range trigger.Actions {
		m.actionReference(r, expr, at)
	}
}

// actionReference checks an element of the argument actions.
func (m *moduleChecker) actionReference(r *module.Resource, expr *module.Expr, at place) {
	var ref *refs.Reference
	actions, others := 0, false
	for i := range expr.Refs {
		switch expr.Refs[i].Subject.Kind {
		case refs.Action:
			ref = &expr.Refs[i]
			actions++
		case refs.CountIndex, refs.EachKey:
			m.references(expr.Refs[i:i+1], at)
		default:
			others = true
		}
	}
	if actions != 1 || others {
		m.problem(expr.Range(), "Invalid action reference", "What is triggered is an action of the module, or an instance of one. A key can be count.index or each.key.")
		return
	}
	id := ref.Subject.Type + "." + ref.Subject.Name
	a := m.tree.Actions[id]
	m.declared(ref, "action", id, a != nil, maps.Keys(m.tree.Actions))
	if a == nil {
		return
	}
	keyed := ref.Key != stackaddrs.NoKey || len(expr.Refs) > 1
	switch repeated := a.Repeat != (module.Repeat{}); {
	case repeated && !keyed:
		m.problem(expr.Range(), "Action instance key missing", fmt.Sprintf("%s has several instances, or none: it has a %s argument. Write the key of the instance that is meant in brackets after the name.", ref.Subject, argumentOf(a.Repeat)))
	case !repeated && keyed:
		m.problem(expr.Range(), "Key without several instances", fmt.Sprintf("%s has one instance, without a key: there is no count or for_each argument. Leave out the brackets.", ref.Subject))
	case refersTo(a.Repeat, r):
		m.problem(a.Range, "Circular dependency", fmt.Sprintf("The instances of %s depend on %s, whose changes trigger it.", ref.Subject, r.Addr))
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
