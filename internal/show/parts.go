// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"fmt"
	"strings"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Part is the planned changes of a component instance, or of a whole root module.
type Part struct {
	Component string           `json:"component,omitempty"` // of a stack
	Changes   stackplan.Counts `json:"changes"`             // in which a replacement is an addition and a removal
	Replace   int              `json:"replace"`
	Deferred  []string         `json:"deferred,omitempty"` // addresses; that of the component if all of it is
}

// Parts returns the changes of each component in a plan, in its order. Components with neither
// changes nor deferrals are left out.
func Parts(plan *stackplan.Plan) []Part {
	var parts []Part
	for _, component := range plan.Components {
		part := Part{Changes: component.Counts()}
		if component.Source != "" { // a root module is none
			part.Component = component.Addr.String()
		}
		for _, change := range component.Changes {
			if change.Action.Replaces() {
				part.Replace++
			}
		}
		for _, later := range component.Deferred {
			part.Deferred = append(part.Deferred, addressOf(later.Change))
		}
		if component.DeferredReason != "" && len(part.Deferred) == 0 {
			part.Deferred = []string{component.Addr.String()}
		}
		if part.Changes.Total() > 0 || len(part.Deferred) > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

func addressOf(change *engine.Change) string {
	text := change.Addr.String()
	if change.Deposed != "" {
		text += " (deposed " + string(change.Deposed) + ")"
	}
	return text
}

// text describes the changes in a line.
func (p Part) text() string {
	c := p.Changes
	text := fmt.Sprintf("%d to add, %d to change, %d to destroy", c.Add, c.Change, c.Remove)
	for _, more := range []struct {
		n    int
		what string
	}{{c.Import, "to import"}, {c.Move, "to move"}, {c.Forget, "to forget"}, {p.Replace, "of them to replace"}, {c.Defer, "deferred"}} {
		if more.n > 0 {
			text += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	if len(p.Deferred) > 0 {
		text += ": " + strings.Join(p.Deferred, ", ")
	}
	return text
}

// properties are the parts of a plan as JUnit has them.
func properties(parts []Part) []Property {
	var all []Property
	for _, part := range parts {
		name := part.Component
		if name == "" {
			name = "plan"
		}
		all = append(all, Property{Name: name, Value: part.text()})
	}
	return all
}
