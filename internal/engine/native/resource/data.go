// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package resource

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// DataConfig is the evaluated configuration of a data source.
type DataConfig struct {
	value     cty.Value // without marks
	sensitive []cty.Path
}

// Known reports whether the data source can be read.
func (c *DataConfig) Known() bool { return c.value.IsWhollyKnown() }

// DataConfig evaluates the block of a data source.
func (rt *Runtime) DataConfig(ctx context.Context, t *Target) (*DataConfig, bool) {
	config, ok := rt.Evaluate(ctx, t)
	if !ok {
		return nil, false
	}
	bare, sensitive := kept(t, config)
	return &DataConfig{bare, sensitive}, true
}

// Readable reports whether the data source can be read. If not, that is an error.
func (rt *Runtime) Readable(t *Target, c *DataConfig) bool {
	return rt.settled(t, c.value)
}

// PlannedData returns the known parts of the result of a data source before it is read.
func (rt *Runtime) PlannedData(t *Target, config *DataConfig) cty.Value {
	return t.Mark(change.PlannedUnknown(t.Block, config.value), config.sensitive)
}

// ReadData reads a data source whose configuration is known. The result has marks. If the data
// source is nested in a check, errors are reported as warnings.
func (rt *Runtime) ReadData(ctx context.Context, t *Target, config *DataConfig) (cty.Value, provider.DeferredReason, bool) {
	t.Lenient = t.Config().Check != nil
	meta, ok := rt.meta(ctx, t)
	if !ok {
		return cty.NilVal, 0, false
	}
	ctx, done, ok := rt.call(ctx, t)
	if !ok {
		return cty.NilVal, 0, false
	}
	defer done()
	if !rt.Said(t, t.Provider.ValidateResource(ctx, stackaddrs.DataResource, t.Name, config.value)) {
		return cty.NilVal, 0, false
	}
	rt.Observe.Observe(engine.Event{Type: engine.ApplyStart, Resource: t.Address, Action: string(engine.ActionRead)})
	response := t.Provider.ReadData(ctx, provider.ReadDataRequest{
		Type: t.Name, Config: config.value, Meta: meta,
		DeferralAllowed: rt.DeferralAllowed,
	})
	if !rt.Said(t, response.Diagnostics) {
		rt.Observe.Observe(engine.Event{Type: engine.ApplyErrored, Resource: t.Address, Action: string(engine.ActionRead)})
		return cty.NilVal, 0, false
	}
	rt.Observe.Observe(engine.Event{Type: engine.ApplyComplete, Resource: t.Address, Action: string(engine.ActionRead)})
	if response.Deferred != provider.NotDeferred {
		return rt.PlannedData(t, config), response.Deferred, rt.mayDefer(t)
	}
	if response.State == cty.NilVal || response.State.IsNull() {
		return cty.NilVal, 0, rt.fail(t, "Provider produced null object", "The provider "+t.Of.String()+" has read nothing for "+t.Address+
			". That is a mistake in the provider.")
	}
	faults := append(change.Conform(t.Block, response.State), notKnown(response.State)...)
	if !rt.broken(t, "Provider produced invalid object", "has read, with mistakes,", faults) {
		return cty.NilVal, 0, false
	}
	return t.Mark(response.State, config.sensitive), 0, true
}
