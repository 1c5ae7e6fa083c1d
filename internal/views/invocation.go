// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"strings"

	"github.com/cairnstacks/cairn/internal/views/valuediff"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// invocations writes the actions that a change triggers, in the order of its parts.
func (p *page) invocations(all []*engine.Invocation, of *engine.Change) {
	event := engine.TriggerEvent("")
	for _, i := range all {
		if i.Trigger.Resource != of.Addr || of.Deposed != "" {
			continue
		}
		if i.Trigger.Event != event {
			event = i.Trigger.Event
			p.printf("    # Actions to be invoked %s, in this order:\n", moment(event, of.Action))
		}
		p.invocation(i)
	}
}

// requested writes the actions that somebody has asked for.
func (p *page) requested(all []*engine.Invocation) {
	p.printf("    # Actions to be invoked, in this order:\n")
	for _, i := range all {
		if caller := i.Trigger.Caller(); caller != "" {
			p.printf("    # for %s\n", caller)
		}
		p.invocation(i)
	}
}

// moment says when the actions for an event are invoked.
func moment(event engine.TriggerEvent, of engine.Action) string {
	when := "after"
	if event.Before() {
		when = "before"
	}
	switch {
	case !of.Replaces():
		return when + " this change"
	case event.Ends():
		return when + " the old object is destroyed"
	default:
		return when + " the new object is created"
	}
}

// deferredInvocations names the actions that are deferred with a change.
func (p *page) deferredInvocations(all []engine.DeferredInvocation, of *engine.Change) {
	var names []string
	for _, d := range all {
		if i := d.Invocation; i.Trigger.Resource == of.Addr {
			names = append(names, fmt.Sprintf("%s (%s)", i.Addr, i.Trigger.Event))
		}
	}
	if len(names) > 0 {
		p.printf("    # Actions that are deferred with this change: %s\n\n", strings.Join(names, ", "))
	}
}

func (p *page) invocation(i *engine.Invocation) {
	p.printf("    action %s %s {%s\n", valuediff.Quote(i.Addr.Type), valuediff.Quote(i.Addr.Name), instanceComment(i))
	p.printf("        config {\n")
	config := valuediff.FromResource(i.Config)
	p.WriteString(valuediff.Attributes(valuediff.Change{Before: config, After: config}, valuediff.Options{
		Style: p.Style, Indent: attributeIndent + len("    "), Concise: p.concise, Full: true,
	}))
	p.printf("        }\n    }\n\n")
}

// instanceComment names the instance where the head of the block does not.
func instanceComment(i *engine.Invocation) string {
	if i.Addr.String() == "action."+i.Addr.Type+"."+i.Addr.Name {
		return ""
	}
	return fmt.Sprintf(" # %s", i.Addr)
}
