// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Resource is a resource in a module instance: the declarations of its block there.
type Resource struct {
	Module *Module
	Config *module.Resource

	expansion memo[Expansion]
	value     memo[cty.Value]
}

// Addr returns the address of one of the instances.
func (r *Resource) Addr(key stackaddrs.InstanceKey) stackaddrs.ResourceInstance {
	return stackaddrs.ResourceInstance{Module: r.Module.Addr, Resource: r.Config.Addr, Key: key}
}

// Expand returns which instances the block declares.
func (r *Resource) Expand(ctx context.Context) (Expansion, bool) {
	if r.Module.Addr.HasWildcard() {
		return unknownInstances(r.Config.Repeat), true
	}
	if r.Config.Repeat == (module.Repeat{}) {
		return Expansion{Keys: singleKey}, true
	}
	name := r.Module.prefixed(r.Config.Addr.String())
	return r.expansion.get(ctx, r.Module.eval, name, r.Config.Range.Ptr(), func(ctx context.Context) (Expansion, bool) {
		return r.Module.expand(ctx, r.Config.Repeat, r.Config.Addr.String())
	})
}

// Place returns where the expressions of an instance stand.
func (r *Resource) Place(ctx context.Context, key stackaddrs.InstanceKey) (Place, bool) {
	x, ok := r.Expand(ctx)
	return Place{Repetition: x.Repetition(key), Resource: r.Addr(key).String()}, ok
}

// Value returns the value of references to the resource: all its instances, once the phase is done
// with them.
func (r *Resource) Value(ctx context.Context) (cty.Value, bool) {
	name := r.Module.prefixed(r.Config.Addr.String())
	return r.value.get(ctx, r.Module.eval, name, r.Config.Range.Ptr(), func(ctx context.Context) (cty.Value, bool) {
		x, ok := r.Expand(ctx)
		if !ok {
			return cty.NilVal, false
		}
		value, ok := r.join(ctx, x)
		if ok && r.Config.Addr.Mode == stackaddrs.EphemeralResource {
			value = value.Mark(marks.Ephemeral)
		}
		return value, ok
	})
}

func (r *Resource) join(ctx context.Context, x Expansion) (cty.Value, bool) {
	objects := r.Module.eval.opts.Objects
	if former, ok := objects.(FormerInstances); ok && !former.Former(ctx, r, x) {
		return cty.NilVal, false
	}
	if x.Unknown {
		_, ok := objects.Object(ctx, r, stackaddrs.WildcardKey) // a failure is one of the block
		return cty.DynamicVal, ok
	}
	return x.join(func(key stackaddrs.InstanceKey) (cty.Value, bool) { return objects.Object(ctx, r, key) })
}

// AwaitDependencies waits for the objects that depends_on arguments name, those of the resource and
// of the module calls that it is below, and for the references of those parts of the block that are
// evaluated later.
func (r *Resource) AwaitDependencies(ctx context.Context) bool {
	if !r.Module.Await(ctx, r.Config.DependsOn) {
		return false
	}
	for _, c := range r.Config.Postconditions {
		if !r.Module.Await(ctx, c.Condition.Refs) || c.ErrorMessage != nil && !r.Module.Await(ctx, c.ErrorMessage.Refs) {
			return false
		}
	}
	for _, p := range r.Config.Provisioners {
		if !r.Module.Await(ctx, p.Refs) || p.Connection != nil && !r.Module.Await(ctx, p.Connection.Refs) {
			return false
		}
	}
	if c := r.Config.Connection; c != nil && !r.Module.Await(ctx, c.Refs) {
		return false
	}
	for m := r.Module; m.call != nil; m = m.call.module {
		if !m.call.module.Await(ctx, m.call.Config.DependsOn) {
			return false
		}
	}
	return true
}
