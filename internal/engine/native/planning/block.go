// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// block is a resource in a module instance, with all its instances: those that are declared, and
// those that no longer are.
type block struct {
	planner  *planner
	resource *eval.Resource

	find   sync.Once
	former []*leftOver
}

func (p *planner) block(r *eval.Resource) *block {
	if known, ok := p.blocks.Load(r); ok {
		return known.(*block)
	}
	known, _ := p.blocks.LoadOrStore(r, &block{planner: p, resource: r})
	return known.(*block)
}

// plan plans all instances.
func (b *block) plan(ctx context.Context) {
	x, ok := b.resource.Expand(ctx)
	if !ok {
		return
	}
	var all promising.Group
	for _, key := range x.Instances() {
		all.Go(ctx, func(ctx context.Context) { b.planner.instance(b.resource, key).value(ctx) })
	}
	for _, left := range b.leftOver(x) {
		all.Go(ctx, func(ctx context.Context) { left.plan(ctx) })
	}
	all.Wait()
}

// leftOver returns the objects that the block does not declare any more.
func (b *block) leftOver(x eval.Expansion) []*leftOver {
	if b.resource.Config.Addr.Mode != stackaddrs.EphemeralResource {
		b.find.Do(func() { b.former = b.planner.leftOver(b.resource, x) })
	}
	return b.former
}

// Former implements [eval.FormerInstances].
func (p *planner) Former(ctx context.Context, r *eval.Resource, x eval.Expansion) bool {
	ok := true
	for _, left := range p.block(r).leftOver(x) {
		ok = left.plan(ctx) && ok
	}
	return ok
}

// instance is an instance that the configuration declares.
type instance struct {
	planner  *planner
	resource *eval.Resource
	key      stackaddrs.InstanceKey
	once     promising.Once[outcome]

	draft promising.Once[*draft] // of one that triggers actions

	change *planned.Change // nil before it is planned, and without one
	schema *schema.Block   // nil before it is planned
}

// outcome is the result of planning an instance.
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

// value plans the instance, and returns its value for expressions.
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
	if i.resource.Config.Addr.Mode == stackaddrs.ManagedResource {
		return i.planner.managed(ctx, i)
	}
	if !i.resource.AwaitDependencies(ctx) {
		return failedOutcome
	}
	target, ok := i.planner.rt.Target(ctx, i.resource, i.key)
	if !ok {
		return failedOutcome
	}
	i.schema = target.Block
	if i.resource.Config.Addr.Mode == stackaddrs.DataResource {
		return i.planner.data(ctx, target)
	}
	return i.planner.ephemeral(ctx, target)
}
