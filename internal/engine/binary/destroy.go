// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// destroyInstances makes a destroy plan where numbers of instances are not known: first a process
// refreshes all objects without the module's configuration, then another one plans without
// refreshing.
func (p *planning) destroyInstances(ctx context.Context) (*engine.PlanResult, hcl.Diagnostics, error) {
	var drift []*engine.Change
	if !p.skipsRefresh() && !p.prior.IsEmpty() {
		var diags hcl.Diagnostics
		var err error
		if drift, diags, err = p.refreshBare(ctx); err != nil || diags.HasErrors() {
			return nil, diags, err
		}
	}
	diags, err := p.process(ctx, append(p.args(), "-refresh=false"), p.report)
	if err != nil {
		return nil, nil, err
	}
	result, diags, err := p.conclude(ctx, diags)
	if result != nil {
		result.Drift = drift
	}
	return result, diags, err
}

// refreshBare brings the state in the working copy up to date, and returns the drift. That the
// objects have no configuration keeps no provider from reading them.
func (p *planning) refreshBare(ctx context.Context) ([]*engine.Change, hcl.Diagnostics, error) {
	spec := *p.spec
	spec.Dir = p.dir.File("refresh")
	spec.Tree, spec.Layout, spec.Inputs = p.tree.Bare(), &workcopy.Layout{Root: "."}, nil
	bare := *p
	var err error
	if bare.copy, err = workcopy.Build(&spec); err != nil {
		return nil, nil, err
	}
	// Without a provider there would be no configuration, which the engine refuses.
	if err := os.WriteFile(filepath.Join(bare.copy.Root, "empty.tf.json"), []byte("{}"), 0o600); err != nil {
		return nil, nil, err
	}
	diags, err := bare.process(ctx, append(p.commonArgs(), "-refresh-only"), p.report)
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	_, plan, err := p.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	if plan == nil {
		return nil, nil, errors.New("reading the refreshed state: there is none")
	}
	refreshed, err := tfstate.Parse(plan.PriorState)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the refreshed state: %w", err)
	}
	state, err := withManaged(p.prior, refreshed)
	if err == nil {
		err = os.WriteFile(filepath.Join(p.copy.Root, workcopy.StateFile), state.Bytes(), 0o600)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("replacing the state: %w", err)
	}
	return visibleChanges(plan.ResourceDrift), nil, nil
}

// withManaged returns a state with the managed resources of another one.
func withManaged(state, other *tfstate.Document) (*tfstate.Document, error) {
	isManaged := func(entry tfstate.Entry) bool { return entry.Addr.Resource.Mode == stackaddrs.ManagedResource }
	entries := slices.DeleteFunc(slices.Clone(state.Entries()), isManaged)
	for _, entry := range other.Entries() {
		if isManaged(entry) {
			entries = append(entries, entry)
		}
	}
	return state.WithEntries(entries)
}

// unrepeated passes on events about reading objects only the first time: the process that could not
// plan has read some of the objects already.
func unrepeated(report engine.Observer) engine.Observer {
	if report == nil {
		return nil
	}
	seen := map[string]bool{}
	return func(ev engine.Event) {
		if ev.Type == runner.EventRefreshStart || ev.Type == runner.EventRefreshComplete {
			key := string(ev.Type) + " " + ev.Resource
			if seen[key] {
				return
			}
			seen[key] = true
		}
		report(ev)
	}
}
