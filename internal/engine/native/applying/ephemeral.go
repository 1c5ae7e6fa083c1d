// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// closeUnused begins to close each ephemeral resource once all that depends on it is done. By then,
// the group waits for that.
//
// It stays open until all is done if an ephemeral resource depends on it that no object needs, or
// an ephemeral output: nobody knows when the former is opened, and outputs come last.
func (a *applier) closeUnused(ctx context.Context, all *promising.Group) {
	for _, opened := range a.Graph.Ephemerals() {
		users, lasting := a.users(opened)
		if lasting {
			continue
		}
		all.Go(ctx, func(ctx context.Context) {
			for _, s := range a.steps {
				if s.change != nil && users[resource.ConfigAddr(s.change.Addr)] {
					a.succeeded(ctx, s)
				}
			}
			a.rt.CloseEphemerals(ctx, slices.Collect(maps.Keys(users))...) // those that depend on it before it
		})
	}
}

// users returns the blocks that depend on an ephemeral resource, with its own, and whether one of
// them is an ephemeral resource that no object needs, or an output does.
func (a *applier) users(opened *deps.Resource) (users map[stackaddrs.ResourceInstance]bool, lasting bool) {
	for name, output := range a.eval.Root().Outputs() {
		if output.Config().Ephemeral && slices.Contains(a.Graph.Output(name), opened) {
			return nil, true
		}
	}
	users = map[stackaddrs.ResourceInstance]bool{opened.Addr: true}
	for _, user := range opened.Dependents() {
		users[user.Addr] = true
		if user.Addr.Resource.Mode == stackaddrs.EphemeralResource && !slices.ContainsFunc(user.Dependents(), isObject) {
			return nil, true
		}
	}
	return users, false
}

func isObject(r *deps.Resource) bool { return r.Addr.Resource.Mode != stackaddrs.EphemeralResource }

// ephemeral opens an ephemeral resource, which something refers to.
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
	return value, t.Postconditions(ctx, value.Mark(marks.Ephemeral))
}
