// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// deferrals are the values that stand for objects whose changes are deferred.
type deferrals struct {
	values     map[stackaddrs.ResourceInstance]cty.Value
	unexpanded map[string]bool                      // addresses of resources and module calls whose instances were not known while planning
	blocks     map[stackaddrs.ResourceInstance]bool // blocks with any deferred instance
}

func deferralsOf(plan *planned.Plan) deferrals {
	d := deferrals{
		values: map[stackaddrs.ResourceInstance]cty.Value{}, unexpanded: map[string]bool{},
		blocks: make(map[stackaddrs.ResourceInstance]bool, len(plan.Deferred)),
	}
	for _, addr := range plan.Deferred {
		d.blocks[addr] = true
	}
	for _, c := range plan.Changes {
		switch {
		case c.Deferred == "":
		case c.Addr.Key.IsWildcard() || c.Addr.Module.HasWildcard():
			d.unexpand(c.Addr)
		default:
			d.values[c.Addr] = c.After
		}
	}
	return d
}

// deferred returns the placeholder for an object whose change is deferred. Whatever is known of its
// block by now, no more is known than while planning.
func (a *applier) deferred(addr stackaddrs.ResourceInstance) (cty.Value, bool) {
	if len(a.deferrals.blocks) == 0 {
		return cty.NilVal, false
	}
	if value, ok := a.deferrals.values[addr]; ok {
		return value, true
	}
	block := resource.ConfigAddr(addr)
	return cty.DynamicVal, a.deferrals.blocks[block] && (addr.Key.IsWildcard() || addr.Module.HasWildcard() || a.now.Object(addr, "") == nil)
}

// unexpand notes whose instances an address with wildcards stands for.
func (d *deferrals) unexpand(addr stackaddrs.ResourceInstance) {
	block := resource.ConfigAddr(addr)
	if addr.Key.IsWildcard() {
		d.unexpanded[block.String()] = true
	}
	module := stackaddrs.RootModuleInstance
	for _, step := range addr.Module.Path() {
		module = module.Child(step.Name, stackaddrs.NoKey)
		if step.Key.IsWildcard() {
			d.unexpanded[module.String()] = true
		}
	}
}

// isUnexpanded is [eval.Options.Unexpanded].
func (d *deferrals) isUnexpanded() func(address string) bool {
	if len(d.unexpanded) == 0 {
		return nil
	}
	return func(address string) bool { return d.unexpanded[address] }
}
