// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"slices"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// IsEmpty reports whether applying the plan would change nothing that a user sees: no object, no
// address, no output.
func (p *Plan) IsEmpty() bool {
	if !p.Applyable || !p.Complete || len(p.Removed)+len(p.Moved) > 0 || p.Counts().Total() > 0 {
		return false
	}
	for _, output := range p.Outputs {
		if output.Action != NoOp {
			return false
		}
	}
	return !slices.ContainsFunc(p.Components, func(c *Component) bool {
		return c.Action != NoOp || slices.ContainsFunc(c.Changes, IsChange) ||
			p.Mode.KeepsObjects() && slices.ContainsFunc(c.Drift, IsDrift)
	})
}

// IsDrift reports whether an object was found to differ from the state.
func IsDrift(c *engine.Change) bool { return c.Action != "" && c.Action != engine.ActionNoOp }

// IsChange reports whether something about a resource instance changes: itself, its address, or
// that it is managed.
func IsChange(c *engine.Change) bool { return c.Action != "" && !c.IsNoOp() }
