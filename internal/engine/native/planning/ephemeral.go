// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// ephemeral opens an ephemeral resource, if its configuration is known. There is no change of it.
func (p *planner) ephemeral(ctx context.Context, t *resource.Target) outcome {
	if !t.Resource.Preconditions(ctx, t.At) {
		return failedOutcome
	}
	config, ok := p.rt.DataConfig(ctx, t)
	if !ok {
		return failedOutcome
	}
	if isWildcard(t.Addr) || !t.Known || p.deferredBefore(t.Addr) {
		p.putOff(t)
		return outcome{p.rt.PlannedEphemeral(t, config), true}
	}
	if !config.Known() {
		return p.opened(ctx, t, p.rt.PlannedEphemeral(t, config))
	}
	value, deferred, ok := p.rt.OpenEphemeral(ctx, t, config)
	switch {
	case !ok:
		return failedOutcome
	case deferred != provider.NotDeferred:
		p.putOff(t)
		return outcome{value, true}
	}
	return p.opened(ctx, t, value)
}

// closeUnused begins to close each ephemeral resource once all that depends on it is planned. By
// then, the group waits for that.
func (p *planner) closeUnused(ctx context.Context, all *promising.Group) {
	for _, opened := range p.Graph.Ephemerals() {
		all.Go(ctx, func(ctx context.Context) {
			closing := []stackaddrs.ResourceInstance{opened.Addr}
			p.awaitBlock(ctx, opened)
			for _, user := range opened.Dependents() {
				p.awaitBlock(ctx, user)
				closing = append(closing, user.Addr) // before, if it is an ephemeral resource as well
			}
			p.rt.CloseEphemerals(ctx, closing...)
		})
	}
}

// awaitBlock waits until all instances of a resource are planned.
func (p *planner) awaitBlock(ctx context.Context, r *deps.Resource) {
	for _, m := range p.eval.Instances(ctx, r.Addr.Module) {
		p.block(m.Resource(r.Addr.Resource)).plan(ctx)
	}
}

// opened checks the conditions of an ephemeral resource.
func (p *planner) opened(ctx context.Context, t *resource.Target, value cty.Value) outcome {
	return outcome{value, t.Postconditions(ctx, value.Mark(marks.Ephemeral))}
}

// putOff notes that an ephemeral resource is deferred: there is no change of it, but its dependents
// are deferred.
func (p *planner) putOff(t *resource.Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.deferred[resource.ConfigAddr(t.Addr)] = true
}
