// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// ephemeral opens an ephemeral resource, which something refers to (section 5.12 of the sheet of the modules language). It is closed when all is done.
func (a *applier) ephemeral(ctx context.Context, r *eval.Resource, key stackaddrs.InstanceKey) (cty.Value, bool) {
	if !r.AwaitDependencies(ctx) {
		return cty.NilVal, false
	}
	t, ok := a.rt.Target(ctx, r, key)
	if !ok || !r.Preconditions(ctx, t.At) {
		return cty.NilVal, false
	}
	config, ok := a.rt.DataConfig(ctx, t)
	if !ok {
		return cty.NilVal, false
	}
	if !config.Known() || !t.Known || a.deferrals.blocks[resource.ConfigAddr(t.Addr)] {
		return a.rt.PlannedEphemeral(t, config), true
	}
	value, _, ok := a.rt.OpenEphemeral(ctx, t, config)
	if !ok {
		return cty.NilVal, false
	}
	at := t.At
	at.Self = value.Mark(marks.Ephemeral)
	return value, r.Postconditions(ctx, at)
}
