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
	if reason := p.deferral(t, provider.NotDeferred); reason != "" {
		return p.readDeferred(t, p.rt.PlannedData(t, config), reason)
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
		return p.readDeferred(t, value, p.deferral(t, deferred))
	}
	if !p.keep(t, &resource.Object{Value: value, Identity: cty.NilVal}, "") {
		return failedOutcome
	}
	if nested && p.Mode == engine.Normal {
		p.readAgain(t, value)
		return outcome{value, true}
	}
	return outcome{value, t.Postconditions(ctx, value)}
}

// readLater plans to read a data source while applying.
func (p *planner) readLater(ctx context.Context, t *resource.Target, config *resource.DataConfig) outcome {
	value := p.rt.PlannedData(t, config)
	p.fresh.Remove(t.Addr, "")
	if p.Mode.KeepsObjects() {
		return outcome{value, true}
	}
	reason := engine.ReadBecauseDependencyPending
	if !config.Known() {
		reason = engine.ReadBecauseConfigUnknown
	}
	p.record(p.read(t, value, reason))
	return outcome{value, t.Postconditions(ctx, value)}
}

// readDeferred defers the reading of a data source, and with it its dependents.
func (p *planner) readDeferred(t *resource.Target, value cty.Value, reason string) outcome {
	c := p.read(t, value, "")
	c.Deferred = reason
	p.record(c)
	return outcome{value, true}
}

// read returns the planned reading of a data source.
func (p *planner) read(t *resource.Target, value cty.Value, reason engine.ActionReason) *planned.Change {
	return &planned.Change{
		Change: engine.Change{
			Addr: t.Addr, Provider: t.Of, Action: engine.ActionRead, Reason: reason, Before: t.Null(), After: value,
			BeforeIdentity: cty.NilVal, AfterIdentity: cty.NilVal,
		},
		Alias: t.Slot.Alias,
	}
}
