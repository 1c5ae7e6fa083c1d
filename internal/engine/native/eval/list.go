// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// List is a list block of the root module's query files.
type List struct {
	Module *Module
	Config *module.List

	expansion memo[Expansion]
	value     memo[cty.Value]
}

// Lists returns the list blocks by their types and names. The caller must not change the map.
func (m *Module) Lists() map[string]*List { return m.lists }

// Address returns the address of one of the instances.
func (l *List) Address(key stackaddrs.InstanceKey) string {
	return "list." + l.Config.Type + "." + l.Config.Name + key.String()
}

func (l *List) expand(ctx context.Context) (Expansion, bool) {
	name := l.Address(stackaddrs.NoKey)
	return l.Module.expand(ctx, &l.expansion, block{l.Config.Repeat, name, &l.Config.Range, Place{}})
}

// Place returns where the expressions of an instance stand.
func (l *List) Place(ctx context.Context, key stackaddrs.InstanceKey) (Place, bool) {
	x, ok := l.expand(ctx)
	return Place{Repetition: x.Repetition(key)}, ok
}

// Value returns the results of all instances, as references to the block see them.
func (l *List) Value(ctx context.Context) (cty.Value, bool) {
	if l.Module.eval.opts.Phase == Validate {
		if l.Config.Repeat.Keyed() {
			return cty.DynamicVal, true
		}
		return cty.ObjectVal(map[string]cty.Value{"data": cty.DynamicVal, "config": cty.DynamicVal}), true
	}
	name := l.Address(stackaddrs.NoKey)
	return l.value.get(ctx, l.Module.eval, name, l.Config.Range.Ptr(), func(ctx context.Context) (cty.Value, bool) {
		x, ok := l.expand(ctx)
		if !ok {
			return cty.NilVal, false
		}
		return x.join(func(key stackaddrs.InstanceKey) (cty.Value, bool) {
			return l.Module.eval.opts.Objects.(Lists).List(ctx, l, key)
		})
	})
}
