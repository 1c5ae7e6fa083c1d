// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
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
	if r.Config.Repeat == (module.Repeat{}) && !r.Module.Addr.HasWildcard() { // as of most, whose text takes time to make
		return Expansion{Keys: singleKey}, true
	}
	at := Place{owner: r, check: r.Config.Check}
	return r.Module.expand(ctx, &r.expansion, block{r.Config.Repeat, r.Config.Addr.String(), &r.Config.Range, at})
}

// Place returns where the expressions of an instance stand.
func (r *Resource) Place(ctx context.Context, key stackaddrs.InstanceKey) (Place, bool) {
	x, ok := r.Expand(ctx)
	return Place{Repetition: x.Repetition(key), Resource: r.Addr(key).String(), owner: r, check: r.Config.Check}, ok
}

// Slot returns the slot of the root module that fills the provider configuration of the block. If
// no call passes one, that is an error.
func (r *Resource) Slot(at Place) (engine.ProviderSlot, bool) {
	return r.Module.slot(r.Config.Addr.String(), r.Config.Provider, r.Config.ProviderAddr,
		Source{Range: r.Config.ProviderRange, Resource: at.Resource})
}

func (m *Module) slot(user string, slot engine.ProviderSlot, of stackaddrs.Provider, at Source) (engine.ProviderSlot, bool) {
	filling, filled := m.Config.Slots[slot]
	if filled || of.IsBuiltin() && slot.Alias == "" {
		return filling, true
	}
	return filling, m.eval.Diagnostics.Add(at.Error("Provider configuration missing", fmt.Sprintf(
		"%s uses the provider configuration %s, which the calls of this module do not pass to it.", user, slot)))
}

// Value returns the value of references to the resource: all its instances, once the phase is done
// with them.
func (r *Resource) Value(ctx context.Context) (cty.Value, bool) {
	if r.Module.eval.opts.Phase == Validate {
		return r.unknown(ctx), true
	}
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

// unknown returns the value of references while validating.
func (r *Resource) unknown(ctx context.Context) cty.Value {
	value := cty.DynamicVal
	if !r.Config.Repeat.Keyed() {
		value, _ = r.Module.eval.opts.Objects.Object(ctx, r, stackaddrs.NoKey)
	}
	if r.Config.Repeat.Enabled != nil { // it may be null
		value = cty.UnknownVal(value.Type())
	}
	if r.Config.Addr.Mode == stackaddrs.EphemeralResource {
		value = value.Mark(marks.Ephemeral)
	}
	return value
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

// PreventsDestroy evaluates whether objects of a resource of the module are not to be destroyed.
// That is the same for all instances of the block, and for those that it does not declare any more.
// The address is the one of an instance, for diagnostics.
func (m *Module) PreventsDestroy(ctx context.Context, config *module.Resource, address string) (prevents, ok bool) {
	if config.PreventDestroyIf == nil {
		return config.PreventDestroy, true
	}
	result, ok := m.Eval(ctx, config.PreventDestroyIf, Place{Resource: address})
	if !ok {
		return false, false
	}
	reject := func(detail string) (bool, bool) {
		return false, m.eval.Diagnostics.AddTo(address, result.Error("Invalid prevent_destroy argument", detail))
	}
	value, found := result.Value.Unmark()
	for mark := range found {
		return reject(fmt.Sprintf("The plan shows everybody what is protected, so that this cannot depend on a value that is %s.", mark))
	}
	condition, err := convert.Convert(value, cty.Bool)
	switch {
	case err != nil:
		return reject("The argument must be true or false: " + marks.DescribeError(result.Value, err) + ".")
	case !condition.IsKnown() && m.eval.opts.Phase == Validate:
		return false, true
	case !condition.IsKnown():
		return reject("Whether the object may be destroyed is known after apply only. Make the argument depend on known values.")
	case condition.IsNull():
		return reject("The argument is null. It must be true or false.")
	}
	return condition.True(), true
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
