// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// data reads a data source, or plans to do so.
func (p *planner) data(ctx context.Context, t *resource.Target) outcome {
	if !t.Resource.Preconditions(ctx, t.At) {
		return failedOutcome
	}
	config, ok := p.rt.DataConfig(ctx, t)
	if !ok {
		return failedOutcome
	}
	if isWildcard(t.Addr) || !t.Known || p.deferredBefore(t.Addr) {
		p.putOff(t)
		return outcome{p.rt.PlannedData(t, config), true}
	}
	if !config.Known() || p.pending(t) {
		return p.readLater(ctx, t, config)
	}
	value, deferred, ok := p.rt.ReadData(ctx, t, config)
	nested := t.Config().Check != nil
	switch {
	case !ok && nested:
		t.Resource.FailCheck(t.Failure)
		if p.Mode == engine.Normal {
			p.readAgain(t, p.rt.PlannedData(t, config))
		}
		return outcome{cty.UnknownVal(t.Object), true}
	case !ok:
		return failedOutcome
	case deferred != provider.NotDeferred:
		p.putOff(t)
		return outcome{value, true}
	}
	if !p.keep(t, &resource.Object{Value: value, Identity: cty.NilVal}, "") {
		return failedOutcome
	}
	if nested && p.Mode == engine.Normal {
		p.readAgain(t, value)
		return outcome{value, true}
	}
	at := t.At
	at.Self = value
	return outcome{value, t.Resource.Postconditions(ctx, at)}
}

// readLater plans to read a data source while applying.
func (p *planner) readLater(ctx context.Context, t *resource.Target, config *resource.DataConfig) outcome {
	value := p.rt.PlannedData(t, config)
	p.fresh.Remove(t.Addr, "")
	if p.Mode == engine.RefreshOnly {
		return outcome{value, true}
	}
	reason := engine.ReadBecauseDependencyPending
	if !config.Known() {
		reason = engine.ReadBecauseConfigUnknown
	}
	p.record(&planned.Change{
		Addr: t.Addr, Provider: t.Of, Alias: t.Slot.Alias, Action: engine.ActionRead, Reason: reason, Before: t.Null(), After: value,
		BeforeIdentity: cty.NilVal, AfterIdentity: cty.NilVal,
	})
	at := t.At
	at.Self = value
	return outcome{value, t.Resource.Postconditions(ctx, at)}
}

// putOff notes that a data source is deferred: there is no change of it, but what depends on it is.
func (p *planner) putOff(t *resource.Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.deferred[resource.ConfigAddr(t.Addr)] = true
}
