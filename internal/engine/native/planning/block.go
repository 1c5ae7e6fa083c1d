// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// block is a resource in a module instance, with all its instances: those that are declared, and those that no longer are.
type block struct {
	planner  *planner
	resource *eval.Resource
	once     promising.Once[bool]
}

func (p *planner) block(r *eval.Resource) *block {
	if known, ok := p.blocks.Load(r); ok {
		return known.(*block)
	}
	known, _ := p.blocks.LoadOrStore(r, &block{planner: p, resource: r})
	return known.(*block)
}

// plan plans all instances, and reports whether that succeeded.
func (b *block) plan(ctx context.Context) bool {
	ok, err := b.once.Do(ctx, b.resource.Config.Addr.String(), func(ctx context.Context) (bool, error) {
		x, ok := b.resource.Expand(ctx)
		if !ok {
			return false, nil
		}
		var all promising.Group
		var failed flag
		for _, key := range x.Instances() {
			all.Go(ctx, func(ctx context.Context) {
				_, ok := b.planner.instance(b.resource, key).value(ctx)
				failed.unless(ok)
			})
		}
		if !x.Unknown && b.resource.Config.Addr.Mode == stackaddrs.ManagedResource {
			for _, left := range b.planner.leftOver(b.resource, x) {
				all.Go(ctx, func(ctx context.Context) { failed.unless(left.plan(ctx)) })
			}
		}
		all.Wait()
		return !failed.Load(), nil
	})
	return ok && err == nil
}

// instance is an instance that the configuration declares.
type instance struct {
	planner  *planner
	resource *eval.Resource
	key      stackaddrs.InstanceKey
	once     promising.Once[outcome]
}

// outcome is what planning an instance has led to.
type outcome struct {
	value cty.Value // as expressions see it
	ok    bool
}

var failedOutcome = outcome{}

func (p *planner) instance(r *eval.Resource, key stackaddrs.InstanceKey) *instance {
	addr := r.Addr(key)
	if known, ok := p.instances.Load(addr); ok {
		return known.(*instance)
	}
	known, _ := p.instances.LoadOrStore(addr, &instance{planner: p, resource: r, key: key})
	return known.(*instance)
}

// value plans the instance, and returns what expressions see of it.
func (i *instance) value(ctx context.Context) (cty.Value, bool) {
	result, err := i.once.Do(ctx, i.resource.Addr(i.key).String(), func(ctx context.Context) (outcome, error) {
		return i.plan(ctx), nil
	})
	if err != nil {
		i.planner.eval.Diagnostics.Failed(err, i.resource.Config.Range.Ptr())
		return cty.NilVal, false
	}
	return result.value, result.ok
}

func (i *instance) plan(ctx context.Context) outcome {
	if !i.resource.AwaitDependencies(ctx) {
		return failedOutcome
	}
	target, ok := i.planner.rt.Target(ctx, i.resource, i.key)
	if !ok {
		return failedOutcome
	}
	switch i.resource.Config.Addr.Mode {
	case stackaddrs.DataResource:
		return i.planner.data(ctx, target)
	case stackaddrs.EphemeralResource:
		return i.planner.ephemeral(ctx, target)
	default:
		return i.planner.managed(ctx, target)
	}
}
