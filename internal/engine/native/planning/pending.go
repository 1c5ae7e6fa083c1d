// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// pending reports whether a data source depends on objects that will change, so that terraform
// reads it while applying: those that it refers to directly, those that a depends_on argument
// stands for, and with conditions all that it depends on in any way.
//
// All of them are planned: the subjects of the block's references were waited for.
func (p *planner) pending(t *resource.Target) bool {
	block := p.Graph.Resource(t.Addr)
	if block == nil {
		return false
	}
	if len(block.Config.Preconditions)+len(block.Config.Postconditions) > 0 {
		return p.anyChanges(t, block, block.Dependencies())
	}
	return p.anyChanges(t, block, block.Explicit()) || p.anyChanges(t, block, block.Direct())
}

// anyChanges reports whether there is a change of one of some resources: in the same module, of the
// same instance of it.
func (p *planner) anyChanges(t *resource.Target, block *deps.Resource, among []*deps.Resource) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, other := range among {
		modules := p.mu.changing[other.Addr]
		if len(modules) > 0 && (other.Tree != block.Tree || modules[t.Addr.Module]) {
			return true
		}
	}
	return false
}

// noteChanging notes that an object of a managed resource will not stay as it is. p.mu must be
// held.
func (p *planner) noteChanging(c *planned.Change) {
	if c.Action == engine.ActionNoOp || c.Addr.Resource.Mode != stackaddrs.ManagedResource {
		return
	}
	block := resource.ConfigAddr(c.Addr)
	modules := p.mu.changing[block]
	if modules == nil {
		modules = map[stackaddrs.ModuleInstance]bool{}
		p.mu.changing[block] = modules
	}
	modules[c.Addr.Module] = true
}

// readAgain plans that a data source of a check is read again while applying. It has no conditions.
func (p *planner) readAgain(t *resource.Target, value cty.Value) {
	p.record(p.read(t, value, engine.ReadBecauseCheckNested))
}
