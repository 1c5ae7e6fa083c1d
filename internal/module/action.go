// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

var (
	actionSchema = &hcl.BodySchema{
		Attributes: schemaOf("count", "for_each", "provider").Attributes,
		Blocks:     []hcl.BlockHeaderSchema{{Type: "config"}},
	}
	triggerSchema = schemaOf("events", "condition", "actions", "on_failure")

	failureModes = []engine.OnFailure{engine.HaltOnFailure, engine.TaintOnFailure, engine.ContinueOnFailure}
)

func (d *decoder) action(block *hcl.Block) {
	a := &Action{Type: block.Labels[0], Name: block.Labels[1], Range: block.DefRange, ProviderRange: block.DefRange}
	a.Config = &hclsyntax.Body{SrcRange: block.DefRange, EndRange: block.DefRange}
	d.identifier(a.Type, block.LabelRanges[0])
	d.identifier(a.Name, block.LabelRanges[1])
	if d.override {
		d.notOverridable(block)
		return
	}
	id := a.Type + "." + a.Name
	if !d.declare("action", id, block.DefRange) {
		return
	}
	d.since("1.14", "action blocks", block.DefRange)
	content, diags := block.Body.Content(actionSchema)
	d.add(diags)
	d.repeat(content, &a.Repeat)
	name, _, _ := strings.Cut(a.Type, "_")
	a.Provider = engine.ProviderSlot{LocalName: name}
	if used, at, ok := d.usedSlot(content.Attributes["provider"], block); ok {
		a.Provider, a.ProviderRange = used, at
		d.dir.addUse(used, at)
	}
	for i, nested := range content.Blocks {
		if i > 0 {
			d.twice(nested, content.Blocks[0])
			continue
		}
		a.Config, a.Refs = nested.Body, d.bodyRefs(nested.Body, nil)
	}
	d.dir.Actions[id] = a
}

func (d *decoder) actionTrigger(block *hcl.Block) *ActionTrigger {
	d.since("1.14", "action_trigger blocks", block.DefRange)
	content, diags := block.Body.Content(triggerSchema)
	d.add(diags)
	trigger := &ActionTrigger{Condition: d.argument(content, "condition"), Range: block.DefRange}
	trigger.OnFailure = engine.HaltOnFailure
	if attr := content.Attributes["on_failure"]; attr != nil {
		d.since("1.16", "the argument on_failure of action_trigger blocks", attr.NameRange)
		if trigger.OnFailure = engine.OnFailure(hcl.ExprAsKeyword(attr.Expr)); !slices.Contains(failureModes, trigger.OnFailure) {
			d.problem(attr.Expr.Range(), "Invalid on_failure keyword", "The effects of a failure are halt, taint and continue, written without "+
				"quotes.")
		}
	}
	for _, expr := range d.triggerList(content, "events") {
		event, ok := d.event(expr)
		switch {
		case !ok:
		case slices.Contains(trigger.Events, event):
			d.problem(expr.Range(), "Duplicate action trigger event", fmt.Sprintf("The event %s is in the list already. It triggers the "+
				"actions once.", event))
		default:
			trigger.Events = append(trigger.Events, event)
		}
	}
	for _, expr := range d.triggerList(content, "actions") {
		reference, diags := unquoted(expr)
		d.add(diags)
		trigger.Actions = append(trigger.Actions, d.expr(reference))
	}
	return trigger
}

// triggerList returns the elements of a list that a trigger must have.
func (d *decoder) triggerList(content *hcl.BodyContent, name string) []hcl.Expression {
	attr := content.Attributes[name]
	if attr == nil {
		d.missing(content, name)
		return nil
	}
	exprs, diags := hcl.ExprList(attr.Expr)
	d.add(diags)
	if len(exprs) == 0 && !diags.HasErrors() {
		d.problem(attr.Expr.Range(), "Empty action trigger", "A trigger has one event and one action at least.")
	}
	return exprs
}

func (d *decoder) event(expr hcl.Expression) (engine.TriggerEvent, bool) {
	event := engine.TriggerEvent(hcl.ExprAsKeyword(expr))
	ok := slices.Contains(engine.TriggerEvents, event)
	switch {
	case !ok:
		d.problem(expr.Range(), "Invalid action trigger event", "The events are before and after an object is created, updated or destroyed, "+
			"as in before_create, written without quotes.")
	case event.Ends():
		d.since("1.16", "the event "+string(event), expr.Range())
	}
	return event, ok
}
